"""Changes of a history that scripts/judge must find."""

import collections
import copy


def some(lines, random, holds):
    return random.choice([line for line in lines if holds(line)])


def is_answer(operation, calls):
    return lambda line: (line["type"] == "answer" and line["status"] < 300
                         and calls[line["id"]]["operation"] == operation)


def mutations(lines, random):
    """Names and changed copies of a history."""
    calls = {line["id"]: line for line in lines if line["type"] == "call"}

    def changed(name, change):
        copied = copy.deepcopy(lines)
        change(copied)
        return name, copied

    def lose(copied):
        final = some(copied, random, lambda line: line["type"] == "final")
        sent = some(copied, random, is_answer("send", calls))
        for line in copied:
            if line["type"] == "final" and line["room"] == calls[sent["id"]]["room"]:
                line["messages"] = [message for message in line["messages"] if message["seq"] != sent["message"]["seq"]]
        return final

    def lose_everywhere(copied):
        """The newest acknowledged message of a room was never stored, and nobody saw it."""
        newest = max((line for line in copied if is_answer("send", calls)(line)), key=lambda line: line["message"]["seq"])
        room, seq = calls[newest["id"]]["room"], newest["message"]["seq"]
        for line in copied:
            if line["type"] == "final" and line["room"] == room:
                line["messages"] = [message for message in line["messages"] if message["seq"] < seq]
                line["head"] = seq - 1

    def swap(copied):
        for line in copied:
            if line["type"] == "final" and line["room"] == "hall":
                first, second = line["messages"][3], line["messages"][-3]
                for key in ("client_message_id", "text"):
                    first[key], second[key] = second.get(key), first.get(key)

    def twice(copied):
        for line in copied:
            if line["type"] == "final" and line["room"] == "hall":
                line["messages"].append(dict(line["messages"][0], seq=line["head"] + 1, rev=line["rev"] + 1))
                line["head"] += 1
                line["rev"] += 1

    def differ(copied):
        some(copied, random, lambda line: line["type"] == "final")["messages"].pop()

    def invent(copied):
        some(copied, random, lambda line: line["type"] == "received")["message"]["text"] = "nobody said this"

    def refuse(copied):
        line = some(copied, random, lambda line: is_answer("edit", calls)(line))
        line["status"] = 403
        del line["message"]

    def age(copied):
        late = [line for line in copied if is_answer("read", calls)(line)]
        old, new = late[len(late) // 4], next(
            line for line in reversed(late) if calls[line["id"]]["room"] == calls[late[len(late) // 4]["id"]]["room"])
        for key in ("messages", "rev", "head"):
            new[key] = old[key]

    def miss(copied):
        by = collections.Counter(line["subscriber"] for line in copied if line["type"] == "received")
        subscriber = by.most_common(1)[0][0]
        room = next(line["room"] for line in copied if line["type"] == "begin" and line["subscriber"] == subscriber)
        final = next(line for line in copied if line["type"] == "final" and line["room"] == room)
        lines = [line for line in copied if line["type"] == "received" and line["subscriber"] == subscriber]
        copied.remove(random.choice([line for line in lines[:-1] if line["message"] in final["messages"]]))

    def stop(copied):
        """A feed stalls, and its connection stays open."""
        begins = {line["subscriber"]: line for line in copied if line["type"] == "begin"}
        received = [line for line in copied if line["type"] == "received" and begins[line["subscriber"]]["reader"] == 0]
        at = received[len(received) // 2]
        copied[:] = [line for line in copied if line["time"] <= at["time"]
                     or begins.get(line.get("subscriber"), {"reader": None})["reader"] != 0]

    def reorder(copied):
        by = collections.Counter(line["subscriber"] for line in copied if line["type"] == "received")
        lines = [line for line in copied if line["type"] == "received" and line["subscriber"] == by.most_common(1)[0][0]]
        lines[4]["message"], lines[5]["message"] = lines[5]["message"], lines[4]["message"]

    def off_by_one(copied):
        some(copied, random, is_answer("send", calls))["message"]["seq"] += 1

    def revert(copied):
        edited = some(copied, random, is_answer("edit", calls))
        for line in copied:
            if line["type"] == "final" and line["room"] == calls[edited["id"]]["room"]:
                message = line["messages"][edited["message"]["seq"] - 1]
                message.update(text=message["client_message_id"], rev=1)

    def shorten(copied):
        """A page of the present rev lacks the newest message, which was acknowledged."""
        acknowledged = {(calls[line["id"]]["room"], line["message"]["seq"]) for line in copied if is_answer("send", calls)(line)}
        page = some(copied, random, lambda line: is_answer("read", calls)(line) and line["head"] <= calls[line["id"]]["limit"]
                    and (calls[line["id"]]["room"], line["head"]) in acknowledged)
        page["head"] -= 1
        page["messages"] = [message for message in page["messages"] if message["seq"] <= page["head"]]

    def empty(copied):
        some(copied, random, lambda line: is_answer("read", calls)(line) and line["head"] > 0)["messages"] = []

    def stale(copied):
        """One message of a page is older than the page."""
        versions = collections.defaultdict(dict)
        for line in copied:
            if line["type"] == "received":
                versions[line["message"]["seq"], line["message"]["client_message_id"]][line["message"]["rev"]] = line["message"]
        for line in reversed(copied):
            for index, message in enumerate(line.get("messages", ())):
                older = [rev for rev in versions[message["seq"], message.get("client_message_id")] if rev < message["rev"]]
                if line["type"] == "answer" and older:
                    line["messages"][index] = versions[message["seq"], message["client_message_id"]][older[0]]
                    return

    for change, name in [
        (lose, "an acknowledged message is missing"), (lose_everywhere, "the newest acknowledged message was never stored"),
        (swap, "two messages are in another order"), (twice, "a message is stored twice"), (differ, "two nodes differ"),
        (invent, "a subscriber received what nobody sent"), (refuse, "a refused edit was made"), (age, "a read is old"),
        (miss, "a subscriber missed a message"), (reorder, "a subscriber received two changes in another order"),
        (off_by_one, "an answer has another seq"), (revert, "an acknowledged edit is undone"),
        (stale, "a page has an old state of a message"), (shorten, "a page lacks the newest message"), (empty, "a page is empty"),
        (stop, "a subscriber receives nothing more"),
    ]:
        yield changed(name, change)
