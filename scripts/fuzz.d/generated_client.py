"""Uses a client that openapi-python-client has generated, against a server in open mode.

Run with the directory of the package `backscroll_client` in PYTHONPATH:

    python generated_client.py http://127.0.0.1:8080
"""

import json
import sys
import urllib.request
import uuid
from http import HTTPStatus

from backscroll_client import Client
from backscroll_client.api.messages import (
    add_reaction, delete_message, edit_message, get_message, read_changes, read_messages, send_message,
)
from backscroll_client.api.members import set_member
from backscroll_client.api.rooms import get_room, list_rooms, move_read_mark, set_room
from backscroll_client.models import (
    AttachmentDraft, AttachmentType, Draft, DraftDataType0, Edit, MemberRole, Message, Page, Problem, ReadMark, Role,
    RoomSettings, Visibility,
)
from backscroll_client import models

url = sys.argv[1]
client = Client(base_url=url)
room = f"generated-{uuid.uuid4().hex[:8]}"


def send(text, **fields):
    draft = Draft(text=text, client_message_id=uuid.uuid4().hex, **fields)
    message = send_message.sync(room, client=client, x_user="alice", body=draft)
    assert isinstance(message, Message), message
    assert message.sender == "alice" and message.client_message_id == draft.client_message_id
    return message


# Send, with everything that a message can have.
data = DraftDataType0.from_dict({"poll": ["yes", {"deep": [1, None]}]})
picture = AttachmentDraft(type_=AttachmentType.IMAGE, url="https://example.com/a.jpg", width=1200, height=800)
first = send("hello", data=data, attachments=[picture])
assert first.seq == 1 and isinstance(first.seq, int)
assert first.data.to_dict() == data.to_dict()
assert first.attachments[0].type_ is AttachmentType.IMAGE and first.attachments[0].width == 1200
for number in range(2, 8):
    send(f"message {number}", reply_to=1)

# The same send again is the same message.
draft = Draft(text="once", client_message_id="once")
answers = [send_message.sync_detailed(room, client=client, x_user="alice", body=draft) for _ in range(2)]
assert [answer.status_code for answer in answers] == [HTTPStatus.CREATED, HTTPStatus.OK]
assert answers[0].parsed.seq == answers[1].parsed.seq == 8

# Page from the newest message to the first, then from the start to the end.
seqs = []
page = read_messages.sync(room, client=client, limit=3)
while True:
    assert isinstance(page, Page), page
    seqs = [message.seq for message in page.messages] + seqs
    if not page.has_before:
        break
    page = read_messages.sync(room, client=client, before=str(seqs[0]), limit=3)
assert seqs == list(range(1, 9)), seqs
assert [message.seq for message in read_messages.sync(room, client=client, after="0").messages] == seqs
time = page.messages[0].created_at.isoformat()
assert [message.seq for message in read_messages.sync(room, client=client, after=time).messages] == seqs

# Edit, react, delete, synchronise.
edited = edit_message.sync(
    room, first.seq, client=client, x_user="alice", body=Edit(text="hello, world"), if_match=f'"{first.rev}"')
assert isinstance(edited, Message) and edited.text == "hello, world" and edited.rev > first.rev
assert edited.data.to_dict() == data.to_dict()
reacted = add_reaction.sync(room, 1, "👍", client=client, x_user="bob")
assert reacted.reactions[0].key == "👍" and reacted.reactions[0].users == ["bob"]
assert delete_message.sync(room, 2, client=client, x_user="alice").deleted is True
assert get_message.sync(room, 1, client=client).text == "hello, world"
changes = read_changes.sync(room, client=client, since=f"{page.epoch}:{page.rev}")
assert [message.seq for message in changes.messages] == [1, 2] and not changes.has_more

# Rooms and members.
settings = RoomSettings(visibility=Visibility.PRIVATE, title="Plans")
assert set_room.sync(room, client=client, x_user="alice", body=settings).visibility is Visibility.PRIVATE
assert set_member.sync(room, "bob", client=client, x_user="alice", body=MemberRole(role=Role.OWNER)).role is Role.OWNER
assert move_read_mark.sync(room, client=client, x_user="bob", body=ReadMark(seq=3)).read == 3
assert get_room.sync(room, client=client, x_user="bob").unread > 0
assert list_rooms.sync(client=client, x_user="bob").rooms[0].last_message.seq == 8

# Refusals have a body that is parsed, whatever the status.
empty = send_message.sync(room, client=client, x_user="alice", body=Draft(text=""))
assert isinstance(empty, Problem) and empty.status == 422 and empty.code == "empty_message", empty
hidden = get_room.sync(room, client=client, x_user="carol")
assert isinstance(hidden, Problem) and hidden.status == 404 and hidden.code == "room_not_found", hidden
stale = edit_message.sync_detailed(
    room, 1, client=client, x_user="alice", body=Edit(text="late"), if_match='"1"')
assert stale.status_code == HTTPStatus.PRECONDITION_FAILED and stale.parsed.code == "precondition_failed"

# Frames are described, too: an event stream's data are the same frames.
frames = {
    "subscribed": models.SubscribedFrame, "message": models.MessageFrame, "live": models.LiveFrame,
    "presence": models.PresenceFrame, "read": models.ReadFrame, "typing": models.TypingFrame,
    "error": models.ErrorFrame,
}
request = urllib.request.Request(
    f"{url}/v1/rooms/{room}/live?since=0&user=alice", headers={"Accept": "text/event-stream"})
seen = []
with urllib.request.urlopen(request, timeout=30) as stream:
    for line in stream:
        if line.startswith(b"data:"):
            frame = json.loads(line.removeprefix(b"data:"))
            parsed = frames[frame["type"]].from_dict(frame)
            seen.append(parsed.type_)
            if isinstance(parsed, models.MessageFrame):
                assert isinstance(parsed.message, Message)
            if isinstance(parsed, models.LiveFrame):
                break
assert seen[0] == "subscribed" and seen[-1] == "live" and seen.count("message") == 8, seen
print("ok - a generated client sends, pages, edits, and reads refusals and frames")
