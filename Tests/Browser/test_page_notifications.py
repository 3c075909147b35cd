"""The chat page at `/`: notifications of the system, the number on the app's icon, and what lets the page be installed."""

import json

import pytest

# Takes the place of the browser's own notifications, of permissions, and of the icon of an installed app.
STUB = """
window.told = [];
window.Notification = class {
    static permission = "default";
    static requestPermission = async () => (Notification.permission = window.answer ?? "granted");
    constructor(title, options) {
        Object.assign(this, { title, ...options });
        window.told.push(this);
    }
    close() {
        this.isClosed = true;
        this.onclose?.();
    }
};
navigator.setAppBadge = async (count) => void (window.badge = count);
navigator.clearAppBadge = async () => void (window.badge = 0);
document.hasFocus = () => window.isInFront === true;
"""
TOLD = "window.told.map(({ title, body }) => `${title} | ${body}`)"


@pytest.fixture
def stubbed(chat):
    """A page whose notifications the test sees, and which is not in front of the user."""
    script = chat.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": STUB})
    yield chat
    chat.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def join(server, room, title):
    server.request("PUT", f"/v1/rooms/{room}?user=bob", {"visibility": "open", "title": title})
    server.request("PUT", f"/v1/rooms/{room}/members/alice?user=bob", {"role": "member"})


def open_notified(chat, room=None):
    """Opens the page, asks for notifications, and waits until the list is complete."""
    chat.driver.get(f"{chat.server.url}/?user=alice" + (f"&room={room}" if room else ""))
    chat.wait_for("#me .avatar")
    chat.wait("document.querySelectorAll('#rooms li').length")
    chat.click("#me")
    chat.click("#notify")
    chat.wait("Notification.permission === 'granted'")
    chat.click("#profile-dialog [data-cancel]")


def wait_told(chat, *lines):
    chat.wait(f"JSON.stringify({TOLD}) === {json.dumps(json.dumps(lines, ensure_ascii=False, separators=(',', ':')))}")


def test_message_in_a_room_that_is_not_open_is_told_and_leads_there(stubbed):
    server = stubbed.server
    server.request("PUT", "/v1/profiles/bob?user=bob", {"name": "Bob Kim"})
    join(server, "plans", "Plans")
    server.send("Before", room="plans", user="bob")
    open_notified(stubbed)
    server.send("Where are you?", room="plans", user="bob")
    wait_told(stubbed, "Plans | Bob Kim: Where are you?")
    stubbed.run("window.isInFront = true; window.told[0].onclick()")
    stubbed.wait("document.querySelector('#room-title').textContent === 'Plans'")
    assert stubbed.run("return window.told[0].isClosed")
    # The page is in front now.
    stubbed.wait_live()
    server.send("Here", room="plans", user="bob")
    stubbed.wait_text("Here")
    wait_told(stubbed, "Plans | Bob Kim: Where are you?")


def test_direct_message_is_told_by_the_name_of_its_author(stubbed):
    server = stubbed.server
    join(server, "plans", "Plans")
    open_notified(stubbed)
    room = server.request("PUT", "/v1/direct/alice?user=carol")["room"]
    server.send("Hello", room=room, user="carol")
    wait_told(stubbed, "carol | Hello")


def test_nothing_is_told_that_the_user_does_not_want(stubbed):
    server = stubbed.server
    for room, level in ("muted", "none"), ("some", "mentions"), ("loud", "all"):
        join(server, room, room)
        if room != "loud":
            server.request("PUT", f"/v1/rooms/{room}/notify?user=alice", {"level": level})
    server.request("PUT", "/v1/blocks/mallory?user=alice")
    open_notified(stubbed)
    server.send("Muted", room="muted", user="bob")
    server.send("No mention", room="some", user="bob")
    server.request("POST", "/v1/rooms/loud/messages?user=bob", {"text": "Silent", "silent": True})
    server.request("POST", "/v1/rooms/some/messages?user=bob", {"text": "@alice look", "mentions": ["alice"]})
    wait_told(stubbed, "some | bob: @alice look")
    server.request("PUT", "/v1/rooms/loud/members/mallory?user=bob", {"role": "member"})
    server.send("Blocked", room="loud", user="mallory")
    server.send("My own", room="loud", user="alice")
    server.send("The last", room="loud", user="bob")
    wait_told(stubbed, "some | bob: @alice look", "loud | bob: The last")


def test_browser_that_refuses_is_named(stubbed):
    join(stubbed.server, "plans", "Plans")
    stubbed.driver.get(f"{stubbed.server.url}/?user=alice")
    stubbed.wait_for("#me .avatar")
    stubbed.run("window.answer = 'denied'")
    stubbed.click("#me")
    stubbed.click("#notify")
    stubbed.wait("document.querySelector('#profile-error').textContent.includes('Allow notifications')")
    assert not stubbed.find("#notify").is_selected()


def test_icon_of_the_app_has_the_number_of_unread_messages(stubbed):
    join(stubbed.server, "plans", "Plans")
    stubbed.server.send("One", room="plans", user="bob")
    stubbed.server.send("Two", room="plans", user="bob")
    stubbed.driver.get(f"{stubbed.server.url}/?user=alice")
    stubbed.wait("window.badge === 2 && document.title.startsWith('(2)')")
    stubbed.server.request("PUT", "/v1/rooms/plans/read?user=alice", {"seq": 2})
    stubbed.wait("window.badge === 0 && document.title === 'Backscroll'")


def test_page_can_be_installed(chat):
    chat.driver.get(f"{chat.server.url}/?user=alice")
    chat.wait_for("#me .avatar")
    manifest = chat.driver.execute_cdp_cmd("Page.getAppManifest", {})
    assert manifest["errors"] == []
    data = json.loads(manifest["data"])
    assert data["name"] == "Backscroll" and data["start_url"] == "/" and data["display"] == "standalone"
    assert {icon.get("purpose", "any") for icon in data["icons"]} == {"any", "maskable"}
    for icon in [*data["icons"], {"src": chat.find("link[rel=apple-touch-icon]").get_attribute("href"), "sizes": "180x180"}]:
        size = chat.run("const image = new Image(); image.src = arguments[0]; return image.decode().then(() => image.naturalWidth)", icon["src"])
        assert icon["sizes"] in ("any", f"{size}x{size}")
    chat.driver.get(f"{chat.server.url}/")
    chat.wait_for("#sign-in-value").send_keys("alice")
    chat.click("#sign-in .primary")
    chat.wait_for("#me .avatar")
    # The installed app begins there, and offers the name.
    chat.driver.get(f"{chat.server.url}/")
    chat.wait("document.querySelector('#sign-in-value').value === 'alice'")
