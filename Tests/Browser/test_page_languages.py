"""The chat page at `/`: the languages of its interface."""

import pathlib
import re

import pytest
from conftest import ROOT, fill

PAGE = ROOT / "Sources/Page"
LANGUAGES = sorted(PAGE.glob("text-*.js"))

# The visible texts and names of the page, without what users have written.
OWN = """
const written = ".text, .name bdi, .last, .sender, .who, .avatar, #room-title, #messages .quote, [lang], .names [dir], .reactions, option, time, .readers";
const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const { parentElement: parent, data } = walker.currentNode;
    if (data.trim() && parent.checkVisibility() && !parent.closest(written) && !parent.closest("noscript, script")) texts.push(data.trim());
}
for (const node of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
    if (!node.checkVisibility() || node.closest(".row, .completion, [data-room-item], #member-list")) continue;
    for (const name of ["aria-label", "title", "placeholder"]) if (node.getAttribute(name)) texts.push(node.getAttribute(name));
}
return texts;
"""


@pytest.fixture
def speak(chat):
    """Sets the languages that a browser prefers."""

    def set_languages(languages):
        agent = chat.run("return navigator.userAgent")
        chat.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": languages})

    yield set_languages
    set_languages("en-US")


def test_korean_lines_break_between_words(chat, speak):
    speak("ko-KR,en")
    chat.server.send("비가 오면 일요일로 미뤄요 " * 12, user="bob")
    chat.open()
    broken = chat.run(r"""
        const text = document.querySelector(".text p").firstChild;
        return [...text.data.matchAll(/\S+/g)].filter(({ 0: word, index }) => {
            const range = new Range();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            return range.getClientRects().length > 1;
        }).map(([word]) => word);
    """)
    assert broken == []


def test_browser_decides_the_language_of_texts_and_times(chat, speak):
    server = chat.server
    speak("ko-KR,en")
    server.request("PUT", "/v1/rooms/den?user=alice", {"visibility": "open", "title": "The den"})
    server.request("PUT", "/v1/rooms/den/members/bob?user=alice", {"role": "member"})
    fill(server, 3, room="den")
    chat.open(room="den")
    chat.wait_for("[data-room-item=den]")
    assert chat.run("return document.documentElement.lang") == "ko"
    assert chat.find("[data-composer]").get_attribute("placeholder") == "메시지"
    assert re.search("오[전후]", chat.find(".row time").text)
    assert chat.find(".line.day").get_attribute("aria-label") == "오늘"
    for opener in None, "#members", "#date", "#mute", "#me", "[data-new-room]", "#mentions":
        if opener:
            chat.click(opener)
            chat.wait("document.querySelector('dialog[open]')")
        mixed = [text for text in chat.run(OWN) if re.search("[A-Za-z]{3}", re.sub("Home|End|Escape|Backscroll|https://|The den|English", "", text))]
        assert mixed == [], opener
        chat.run("document.querySelector('dialog[open]')?.close()")


def test_reader_changes_the_language(chat):
    fill(chat.server, 1)
    chat.open()
    assert chat.run("return document.documentElement.lang") == "en"
    chat.click("#me")
    chat.run("const select = document.querySelector('#language'); select.value = 'ko'; select.dispatchEvent(new Event('change'))")
    chat.wait("document.documentElement.lang === 'ko' && document.querySelector('#screen')?.checkVisibility()")
    assert chat.find(".rooms h1").text == "대화방"
    # Times are written as the language writes them, too.
    assert re.search("오[전후]", chat.wait_for(".row time").text)
    chat.open()
    assert chat.run("return document.documentElement.lang") == "ko"


def test_problems_are_told_in_the_language(chat, speak):
    speak("ko")
    fill(chat.server, 1)
    chat.server.request("PUT", "/v1/rooms/lobby?user=bob", {"visibility": "open"})
    chat.server.request("DELETE", "/v1/rooms/lobby?user=bob")
    chat.open(room="den")
    chat.click("[data-new-room]")
    chat.run("document.querySelector('#new-room-dialog [name=id]').value = 'lobby'")
    chat.click("#new-room-dialog .primary")
    chat.wait("document.querySelector('#new-room-dialog .error').textContent === '삭제된 대화방입니다.'")


def test_end_and_reason_of_a_ban_are_told_in_the_language(chat, speak):
    server = chat.server
    speak("ko-KR,en")
    server.request("PUT", "/v1/rooms/den?user=bob", {"visibility": "open"})
    chat.open(room="den")
    for until, reason, text in (
            ("2999-01-01T12:00:00Z", "도배", r"이용이 제한되었습니다 \(2999년 .+까지\): 도배"), (None, "도배", "이용이 제한되었습니다: 도배"), (None, None, r"이용이 제한되었습니다\.")):
        ban = {"scope": "send"} | ({"until": until} if until else {}) | ({"reason": reason} if reason else {})
        server.request("PUT", "/v1/rooms/den/bans/alice?user=bob", ban)
        chat.type("안녕")
        chat.wait(f"/^{text}$/.test(document.querySelector('#ban').textContent)")


def test_browser_of_another_language_gets_english(chat, speak):
    speak("eo,fr")
    chat.open()
    assert chat.run("return document.documentElement.lang") == "en"


def test_further_language_is_a_file_that_the_document_lists(chat, speak):
    script = chat.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        document.addEventListener("readystatechange", () => {
            if (document.readyState !== "interactive") return;
            const link = Object.assign(document.createElement("link"), { rel: "modulepreload", href: "/page/text-ko.js", hreflang: "eo", title: "Esperanto" });
            document.head.append(link);
        });
    """})
    speak("eo")
    try:
        chat.open()
        assert chat.run("return document.documentElement.lang") == "eo"
        assert chat.find(".rooms h1").text == "대화방"
        chat.click("#me")
        assert chat.run("return [...document.querySelector('#language').options].map(({ text }) => text)") == ["English", "한국어", "Esperanto"]
    finally:
        chat.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_languages_have_the_same_texts(chat):
    assert [path.name for path in LANGUAGES] == ["text-en.js", "text-ko.js"]
    chat.open()
    shapes = [chat.driver.execute_async_script("""
        const [name, done] = arguments;
        const shape = (value) => Array.isArray(value) ? value.length : typeof value === "object" ? Object.entries(value).map(([key, value]) => [key, shape(value)]) : typeof value;
        import(`/page/${name}`).then(({ default: texts }) => done(shape(texts)));
    """, path.name) for path in LANGUAGES]
    # The server's own texts are English, so that other languages have more of them.
    problems = [{code for code, _ in dict(shape).pop("problems")} for shape in shapes]
    assert all(codes >= problems[0] for codes in problems)
    documented = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/api.md").read_text(), re.M)) | {"unreachable"}
    assert set().union(*problems) <= documented
    shapes = [[(key, shape) for key, shape in shape if key != "problems"] for shape in shapes]
    assert len(shapes[0]) > 150
    assert all(shape == shapes[0] for shape in shapes)
    # Each text is used.
    used = "".join(path.read_text() for path in [*PAGE.glob("*.js"), PAGE / "index.html"] if path not in LANGUAGES)
    assert [key for key, _ in shapes[0] if not re.search(rf'texts\.{key}\b|data-\w+="{key}"', used)] == []


def test_no_text_stands_elsewhere():
    document = re.sub(r"<!--.*?-->|<noscript>.*?</noscript>|<head>.*?</head>", "", (PAGE / "index.html").read_text(), flags=re.S)
    assert set(re.findall(r">\s*([^<>\s][^<>]*[A-Za-z]{2}[^<>]*)<", document)) == {"Backscroll"}
    assert re.findall(r' (?:aria-label|title|placeholder)="(?!https://)[^"]*[A-Za-z]', document) == []
    known = set(re.findall(r'"([A-Z][^"]*)"', LANGUAGES[0].read_text()))
    assert len(known) > 100
    found = []
    for path in PAGE.glob("*.js"):
        if path in LANGUAGES:
            continue
        module = re.sub(r"/\*.*?\*/|^\s*//.*?$|^import .*?;$|new Error\(.*?\)", "", path.read_text(), flags=re.S | re.M)
        for literal in re.findall(r'"([^"\n]*)"|`([^`]*)`', module):
            text = re.sub(r"\$\{[^}]*\}", "", "".join(literal))
            if text in known or re.search(r"(^| )[A-Z][a-z]+ [a-z]|[a-z]{2}…| .*[a-z]\.$", text):
                found.append((pathlib.Path(path).name, text))
    assert found == []
