"""The chat page at `/`: the days of messages, in the reader's time zone."""

import json
import subprocess

import pytest
from conftest import BACKSCROLL

# Each message with the text of the day line above it.
DAYS = """
let day = null;
const days = [];
for (const node of document.querySelectorAll("#messages > [data-key]")) {
    if (node.matches(".day")) day = node.textContent;
    else if (node.matches(".row")) days.push([node.querySelector(".text").textContent, day, node.querySelector(".status time").textContent]);
}
return days;
"""


@pytest.fixture
def in_zone(chats):
    """Sets the time zone of the browser."""
    driver = chats().driver

    def set_zone(zone):
        driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": zone})

    yield set_zone
    set_zone("")


def import_messages(server, times):
    server.stop()
    file = server.database.with_name("days.jsonl")
    file.write_text("".join(
        json.dumps({"room": "lobby", "sender": "bob", "created_at": time, "text": text}) + "\n" for text, time in times))
    subprocess.run([BACKSCROLL, "import", "--database", server.database, file], check=True, capture_output=True)
    server.start()


def test_each_message_stands_under_the_day_of_its_own_clock(chats, in_zone):
    # Half an hour before and after midnight in Berlin, in summer and in winter.
    import_messages(chats.server, [
        ("summer evening", "2026-06-10T21:30:00Z"), ("summer night", "2026-06-10T22:30:00Z"),
        ("winter evening", "2026-11-10T22:30:00Z"), ("winter night", "2026-11-10T23:30:00Z")])
    in_zone("Europe/Berlin")
    chat = chats().open(at=1)
    shown = chat.run(DAYS)
    assert [text for text, _, _ in shown] == ["summer evening", "summer night", "winter evening", "winter night"]
    assert [day for _, day, _ in shown] == [
        "Wednesday, June 10, 2026", "Thursday, June 11, 2026", "Tuesday, November 10, 2026", "Wednesday, November 11, 2026"]

    # The reader travels while the page is open.
    in_zone("America/New_York")
    chat.wait("document.querySelectorAll('.day').length === 2")
    assert [day for _, day, _ in chat.run(DAYS)] == ["Wednesday, June 10, 2026"] * 2 + ["Tuesday, November 10, 2026"] * 2
    assert [time for _, _, time in chat.run(DAYS)] == ["5:30 PM", "6:30 PM", "5:30 PM", "6:30 PM"]


def test_today_becomes_yesterday_at_midnight(chats):
    chats.server.send("Late", user="bob")
    chat = chats().open()
    assert chat.find(".day").text == "today"
    chat.run("""
        const [Real, tomorrow] = [Date, new Date().setHours(24, 0, 1) - Date.now()];
        window.Date = class extends Real {
            constructor(...parts) { parts.length ? super(...parts) : super(Real.now() + tomorrow); }
            static now() { return Real.now() + tomorrow; }
        };
    """)
    chat.wait("document.querySelector('.day').textContent === 'yesterday'")
