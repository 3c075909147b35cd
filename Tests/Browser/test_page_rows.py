"""The rows of the chat page: their density, and what stands where in them."""

import json
import subprocess

import pytest
from conftest import BACKSCROLL, Chat, fill

NARROW = 500


@pytest.fixture(params=["desk", "phone"])
def sized(request, chats) -> Chat:
    """A page in a wide and in a narrow window."""
    chat = chats()
    if request.param == "phone":
        chat.driver.set_window_size(NARROW, 800)
    return chat


def import_at(server, messages):
    """Stores messages of given times: tuples of the time, the sender and the text."""
    lines = [{"room": "lobby", "sender": user, "created_at": f"2026-01-01T{time}Z", "text": text} for time, user, text in messages]
    server.stop()
    export = server.database.with_name("history.jsonl")
    export.write_text("".join(json.dumps(line) + "\n" for line in lines))
    subprocess.run([BACKSCROLL, "import", "--database", server.database, export], check=True, capture_output=True)
    server.start()


def heights(chat):
    return chat.run("return [...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect().height)")


def test_twelve_short_messages_fit_where_seven_did(chats, sized):
    for _ in range(12):
        chats.server.send("+1", user="bob")
    sized.open().wait("document.querySelectorAll('.row').length === 12")
    # Each had 61 pixels when the time had a line of its own, and the first one 87.
    assert sum(heights(sized)) < 87 + 6 * 61


def test_group_shows_name_picture_and_each_minute_once(chats):
    import_at(chats.server, [
        ("10:00:10", "bob", "a"), ("10:00:50", "bob", "b"), ("10:01:10", "bob", "c"), ("10:01:20", "carol", "d"), ("10:01:30", "carol", "e"),
        ("10:20:00", "carol", "f")])
    chat = chats().open()
    chat.wait_text("f")
    shown = chat.run("""
        const isShown = (row, part) => Boolean(row.querySelector(part)?.checkVisibility({ visibilityProperty: true }));
        return [...document.querySelectorAll(".row")].map((row) => [".sender", ".avatar", "time"].map((part) => isShown(row, part)));
    """)
    assert shown == [[True, True, False], [False, False, True], [False, False, True], [True, True, False], [False, False, True], [True, True, True]]
    # A screen reader hears the time of each.
    assert chat.run("return [...document.querySelectorAll('.row')].every(({ ariaLabel }) => /: \\w, .*\\d/.test(ariaLabel))")


def test_time_and_ticks_move_to_the_newest_message_of_a_minute(chats):
    chats.server.request("PUT", "/v1/rooms/lobby?user=alice", {"visibility": "open"})
    chats.server.request("PUT", "/v1/rooms/lobby/members/bob?user=alice", {"role": "member"})
    chat = chats().open()
    # However long it takes, all is sent in one minute.
    chat.run("const now = Date.now(); Date.parse = () => now")
    ticks = "[...document.querySelectorAll('.mine')].map((row) => row.querySelector('.tick')?.dataset.tick ?? null).join()"
    chat.type("One")
    chat.wait(f"{ticks} === 'stored'")
    chat.type("Two")
    chat.wait(f"{ticks} === ',stored'")
    assert chat.run("return document.querySelectorAll('.mine time').length") == 1
    # What others have read of a group has ticks of its own.
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=bob", {"seq": 1})
    chat.wait(f"{ticks} === 'read_by_all,stored'")
    chats.server.request("PUT", "/v1/rooms/lobby/read?user=bob", {"seq": 2})
    chat.wait(f"{ticks} === ',read_by_all'")


def test_time_stands_in_the_last_line_and_covers_no_text(chats, sized):
    texts = ["+1", "word " * 40, "שלום " * 30, "w" * 200, "One\nTwo", "내일 뵐게요 " * 12, *("x" * length for length in range(20, 70, 3))]
    for number, text in enumerate(texts):
        chats.server.send(text, user=f"user{number}")
    sized.open()
    lines = []
    for seq in range(1, len(texts) + 1):
        sized.open(at=seq)
        text, status, line = sized.run("""
            const row = document.querySelector(`.row[data-seq="${arguments[0]}"]`);
            const range = document.createRange();
            range.selectNodeContents(row.querySelector(".text p"));
            const box = row.querySelector(".status").getBoundingClientRect();
            const covered = [...range.getClientRects()].filter(({ left, right, top, bottom }) =>
                left < box.right - 1 && right > box.left + 1 && top < box.bottom - 1 && bottom > box.top + 1);
            const bubble = row.querySelector(".bubble").getBoundingClientRect();
            return [covered.length, box.left >= bubble.left && box.right <= bubble.right && box.bottom <= bubble.bottom, bubble.height];
        """, seq)
        assert text == 0 and status, texts[seq - 1]
        lines.append(line)
    # A short message has a single line, and two of words do not get a third one.
    assert lines[0] < 35 and lines[4] < 60


def test_reader_keeps_the_place_when_the_group_grows(chats):
    fill(chats.server, 40)
    chat = chats().open(at=20)
    key = chat.reading()
    top = chat.top(key)
    chats.server.send("One more", user="bob")
    chat.wait("document.querySelector('[data-timeline]').dataset.unread > 0")
    assert abs(chat.top(key) - top) < 1
