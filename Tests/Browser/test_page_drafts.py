"""The chat page at `/`: unsent texts beyond the tab, and the filter of the list of rooms."""

from selenium.webdriver.common.keys import Keys

LAST = "document.querySelector('[data-room-item=plans] .last')?.textContent"


def join(server, *rooms):
    for room, title in rooms:
        server.request("PUT", f"/v1/rooms/{room}?user=bob", {"visibility": "open", "title": title})
        server.request("PUT", f"/v1/rooms/{room}/members/alice?user=bob", {"role": "member"})


def shown(chat):
    return chat.run("return [...document.querySelectorAll('#rooms li:not([hidden])')].map((item) => item.dataset.roomItem)")


# Drafts


def test_list_shows_the_unsent_text_of_a_room(chat):
    join(chat.server, ("plans", "Plans"), ("lobby", "Lobby"))
    chat.server.send("A message", room="plans", user="bob")
    chat.open(room="plans")
    chat.find("[data-composer]").send_keys("Not yet sent")
    chat.wait_for("[data-room-item=lobby]")
    assert "Draft" not in chat.run(f"return {LAST}")
    chat.click("[data-room-item=lobby] a")
    chat.wait(f"{LAST} === 'Draft: Not yet sent'")
    chat.click("[data-room-item=plans] a")
    chat.wait("document.querySelector('[data-composer]').value === 'Not yet sent'")
    chat.find("[data-composer]").send_keys(Keys.ENTER)
    chat.wait_text("Not yet sent")
    chat.click("[data-room-item=lobby] a")
    chat.wait(f"{LAST} === 'You: Not yet sent'")


def test_unsent_text_outlasts_the_tab(chat):
    join(chat.server, ("plans", "Plans"))
    chat.open(room="plans")
    chat.driver.switch_to.new_window("tab")
    chat.open(room="plans")
    chat.find("[data-composer]").send_keys("Written elsewhere")
    chat.driver.close()
    chat.driver.switch_to.window(chat.driver.window_handles[0])
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait(f"{LAST} === 'Draft: Written elsewhere'")
    chat.open(room="plans")
    assert chat.run("return document.querySelector('[data-composer]').value") == "Written elsewhere"
    # Another user of this browser does not get it.
    chat.open(user="bob", room="plans")
    assert chat.run("return document.querySelector('[data-composer]').value") == ""


def test_browser_keeps_a_bounded_number_of_unsent_texts(chat):
    chat.open()
    count = chat.driver.execute_async_script("""
        const [done] = arguments;
        import("/page/composer.js").then(({ keepDraft, draftOf }) => {
            for (let room = 1; room <= 60; room++) keepDraft("alice", `room${room}`, "x");
            const few = JSON.parse(localStorage.getItem("backscroll.drafts")).map(([place]) => place);
            for (let room = 1; room <= 20; room++) keepDraft("alice", `room${room}`, "x".repeat(16384));
            const long = localStorage.getItem("backscroll.drafts").length;
            done([few.length, few[0], few.at(-1), long, draftOf("alice", "room20").length]);
        });
    """)
    assert count[:3] == [50, "alice/room11", "alice/room60"]
    assert count[3] < 210_000 and count[4] == 16384


# The filter


def test_filter_finds_rooms_by_title_user_and_initial_consonants(chat):
    server = chat.server
    join(server, ("plans", "Holiday plans"), ("news", "새 소식"))
    server.request("PUT", "/v1/profiles/u17?user=u17", {"name": "김철수"})
    direct = server.request("PUT", "/v1/direct/alice?user=u17")["room"]
    server.send("Hello", room=direct, user="u17")
    chat.driver.get(f"{server.url}/?user=alice")
    chat.wait("document.querySelectorAll('#rooms li').length === 3 && document.querySelector('#rooms').textContent.includes('김철수')")
    field = chat.find("#filter")
    for typed, found in ("pla", ["plans"]), ("HOL", ["plans"]), ("ㅅㅅ", ["news"]), ("ㅅ ㅅㅅ", ["news"]), ("김", [direct]), ("ㄱㅊ", [direct]), ("u1", [direct]):
        field.clear()
        field.send_keys(typed)
        assert shown(chat) == found, typed
    field.clear()
    field.send_keys("nothing")
    assert chat.find("#no-rooms").text == "No room has this name."
    field.send_keys(Keys.ESCAPE)
    assert len(shown(chat)) == 3 and chat.find("#no-rooms").text == ""


def test_filter_leads_to_a_room_by_keys(chat):
    join(chat.server, ("plans", "Plans"), ("news", "News"), ("nights", "Nights"))
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait("document.querySelectorAll('#rooms li').length === 3")
    chat.find("#filter").send_keys("n", Keys.ARROW_DOWN)
    links = [f"[data-room-item={room}] a" for room in shown(chat)]
    assert len(links) == 2
    assert chat.run("return document.activeElement === document.querySelector(arguments[0])", links[0])
    chat.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert chat.run("return document.activeElement === document.querySelector(arguments[0])", links[1])
    chat.find("#filter").send_keys(Keys.BACKSPACE, "pl", Keys.ENTER)
    chat.wait("document.querySelector('#room-title').textContent === 'Plans'")
    assert len(shown(chat)) == 3
