"""What messages on the chat page show: formatted text, emoji, pictures and files."""

import http.server
import threading

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

RENDER = """
const [texts, done] = arguments;
import("/page/text.js").then(({ formatted }) => done(texts.map((text) => {
    const shown = document.createElement("div");
    shown.append(...formatted(text));
    for (const node of shown.querySelectorAll("*")) for (const { name } of [...node.attributes]) if (name !== "value") node.removeAttribute(name);
    return shown.innerHTML;
})));
"""


class Pictures(http.server.BaseHTTPRequestHandler):
    """Answers every GET with a picture of 640 by 480 pixels."""

    def do_GET(self):
        content = b'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="480"><rect width="640" height="480" fill="teal"/></svg>'
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("text, words", [
    ("**six** boxes, _a ladder_ and `water: off`", "six boxes, a ladder and water: off"),
    ("> It fails\nFor me, too", "It fails For me, too"),
    ("```python\nwater(bed)\n```", "water(bed)"),
    ("2 ** 3, snake_case_name", "2 ** 3, snake_case_name"),
    ("```", "```"),
    ("```\n_name_ and **name**\n``` _it_", "_name_ and **name** it"),
    (f"**{'long ' * 200}end**", "long " * 28 + "…"),
    (f"_{'long ' * 200}end_", "long " * 28 + "…"),
    (f"```\n{'_a_ ' * 200}\n```", "_a_ " * 35 + "…"),
])
def test_first_words_have_no_marks(chat, text, words):
    chat.server.send(text, user="bob")
    chat.open()
    assert chat.wait_for(".row").get_attribute("aria-label").startswith(f"bob: {words},")


@pytest.fixture(scope="module")
def images():
    """The origin of a site with pictures."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def send_pictures(server, images, count, text=None, user="bob"):
    pictures = [{"type": "image", "url": f"{images}/{number}.svg", "width": 640, "height": 480, "title": f"Picture {number}"} for number in range(count)]
    body = {"attachments": pictures} | ({"text": text} if text else {})
    return server.request("POST", f"/v1/rooms/lobby/messages?user={user}", body)["seq"]


@pytest.mark.parametrize("text, shown", [
    ("**bold** and _italics_", "<p><strong>bold</strong> and <em>italics</em></p>"),
    ("**_both_**, _**both**_", "<p><strong><em>both</em></strong>, <em><strong>both</strong></em></p>"),
    ("2 ** 3 ** 4, snake_case_name, __init__", "<p>2 ** 3 ** 4, snake_case_name, __init__</p>"),
    ("**강조**는 _기울임_", "<p><strong>강조</strong>는 <em>기울임</em></p>"),
    ("`**code**`", "<p><bdi><code>**code**</code></bdi></p>"),
    ("**<img src=x>**", "<p><strong>&lt;img src=x&gt;</strong></p>"),
    ("To buy:\n- pears\n- **six** boxes\nThat is all", "<p>To buy:</p><ul><li>pears</li><li><strong>six</strong> boxes</li></ul><p>That is all</p>"),
    ("3. c\n4) d", '<ol><li value="3">c</li><li value="4">d</li></ol>'),
    ("> who\n> said it\nI", "<blockquote><p>who\nsaid it</p></blockquote><p>I</p>"),
    ("> - one\n> > two", "<blockquote><ul><li>one</li></ul><p>&gt; two</p></blockquote>"),
    (">_< -5 degrees\n1.5 l\n2026. 1", "<p>&gt;_&lt; -5 degrees\n1.5 l\n2026. 1</p>"),
])
def test_text_is_formatted_as_people_type_it(chats, text, shown):
    assert chats().open().driver.execute_async_script(RENDER, [text]) == [shown]


def test_link_within_marks_stays_a_link(chats):
    chats.server.send("_see https://example.com/a_b_c_ and **https://example.com/x**", user="bob")
    chat = chats().open()
    chat.wait_for(".text a")
    links = chat.run("return [...document.querySelectorAll('.text a')].map(({ href }) => href)")
    assert links == ["https://example.com/a_b_c_", "https://example.com/x"]


def test_messages_of_few_emoji_are_large(chats):
    texts = ["😀", "👍🏽 🎉", "❤️🇩🇪3️⃣", "👩‍👩‍👧‍👦", "😀😀😀😀", "😀 yes", "3", "©"]
    for text in texts:
        chats.server.send(text, user="bob")
    chat = chats().open()
    chat.wait_text("©")
    large = chat.run("return [...document.querySelectorAll('.row')].map((row) => row.querySelector('.bubble').matches('.large'))")
    assert large == [True, True, True, True, False, False, False, False]
    size = "return parseFloat(getComputedStyle(document.querySelectorAll('.row p')[arguments[0]]).fontSize)"
    assert chat.run(size, 0) > 2 * chat.run(size, 4)


def test_code_is_copied_by_its_button(chats):
    chats.server.send("Try\n```swift\nlet a = 1\nlet b = 2\n```", user="bob")
    chat = chats().open()
    chat.wait_for("[data-copy]")
    chat.run("window.copied = []; navigator.clipboard.writeText = async (text) => void copied.push(text)")
    chat.find("[data-copy]").click()
    chat.wait("document.querySelector('[data-copied]') && document.querySelector('#announcer').textContent === 'The code is copied.'")
    assert chat.run("return copied") == ["let a = 1\nlet b = 2"]


def test_files_have_their_size(chats):
    for name, size in ("plan.pdf", 1_234_567), ("a.txt", 999), ("film", None):
        file = {"type": "file", "url": f"https://example.com/{name}"} | ({"size": size} if size else {})
        chats.server.request("POST", "/v1/rooms/lobby/messages?user=bob", {"attachments": [file]})
    chat = chats().open()
    chat.wait("document.querySelectorAll('.card').length === 3")
    cards = chat.run("return [...document.querySelectorAll('.card')].map((card) => [card.querySelector('.kind').textContent, card.querySelector('small').textContent])")
    assert cards == [["PDF", "1.2 MB · example.com"], ["TXT", "999 byte · example.com"], ["", "example.com"]]


@pytest.mark.parametrize("user", ["alice", "bob"])
def test_pictures_have_no_frame_and_stand_in_a_grid(chats, images, user):
    for count in range(1, 11):
        send_pictures(chats.server, images, count, user=user)
    send_pictures(chats.server, images, 2, "A caption that is longer than the pictures are wide, so that it has two lines or more", user)
    chat = chats()
    for seq in range(1, 12):
        chat.open(at=seq)
        bubble, boxes = chat.run("""
            const bubble = document.querySelector(`.row[data-seq="${arguments[0]}"] .bubble`);
            const { left, top, width, height } = bubble.getBoundingClientRect();
            return [{ width, height, color: getComputedStyle(bubble).backgroundColor }, [...bubble.querySelectorAll(".media")].map((node) => {
                const box = node.getBoundingClientRect();
                return [box.left - left, box.top - top, box.width, box.height].map(Math.round);
            })];
        """, seq)
        assert min(left for left, *_ in boxes) == 0 and min(top for _, top, *_ in boxes) == 0
        assert max(left + width for left, _, width, _ in boxes) == round(bubble["width"])
        assert all(height > 40 for *_, height in boxes)
        if seq == 11:
            assert bubble["height"] > max(top + height for _, top, _, height in boxes) + 40
            continue
        assert len(boxes) == seq and bubble["color"] == "rgba(0, 0, 0, 0)"
        # The last row is full, and nothing is covered.
        last = [box for box in boxes if box[1] + box[3] == max(top + height for _, top, _, height in boxes)]
        assert sum(width for _, _, width, _ in last) > bubble["width"] - 6
        assert round(bubble["height"]) == max(top + height for _, top, _, height in boxes)
        for index, (left, top, width, height) in enumerate(boxes):
            for other_left, other_top, *_ in boxes[index + 1:]:
                assert other_left >= left + width - 1 or other_top >= top + height - 1


def shown(chat):
    """Returns the name of the picture that is shown large, and its scale."""
    return chat.run("""
        const image = document.querySelector(".viewer img");
        return image && [image.alt, new DOMMatrix(image.style.transform).a];
    """)


def open_viewer(chats, images):
    """Opens the second of three pictures."""
    send_pictures(chats.server, images, 1)
    send_pictures(chats.server, images, 3)
    chat = chats().open()
    chat.wait_for("[data-seq='2'] [data-view='1']").click()
    chat.wait("document.querySelector('.viewer[open] img').naturalWidth === 640")
    return chat


def test_keyboard_goes_through_the_pictures_of_the_room(chats, images):
    chat = open_viewer(chats, images)
    assert chat.find(".viewer p").text.startswith("bob") and chat.find(".viewer p").text.endswith("3 / 4")
    assert chat.find(".viewer a").get_attribute("href") == f"{images}/1.svg"
    for key, expected in [
            (Keys.ARROW_RIGHT, ["Picture 2", 1]), (Keys.ARROW_RIGHT, ["Picture 2", 1]), ("+", ["Picture 2", 1.5]), ("-", ["Picture 2", 1]),
            (Keys.ARROW_LEFT, ["Picture 1", 1]), (Keys.HOME, ["Picture 0", 1]), (Keys.END, ["Picture 2", 1])]:
        chat.driver.switch_to.active_element.send_keys(key)
        assert shown(chat) == expected
    chat.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    # The browser tells the page in an event of its own that the dialog is closed, and only then the picture goes.
    chat.wait("document.querySelector('.viewer') === null")
    assert chat.run("return document.activeElement.dataset.view") == "1"
    # The link works as one with another key.
    chat.run("document.activeElement.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, shiftKey: true }))")
    assert shown(chat) is None


def test_fingers_swipe_pinch_and_close(chats, images):
    chat = open_viewer(chats, images)

    def touch(*frames):
        for number, points in enumerate(frames):
            kind = "touchEnd" if not points else "touchStart" if number == 0 or len(points) > len(frames[number - 1]) else "touchMove"
            chat.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {
                "type": kind, "touchPoints": [{"x": x, "y": y, "id": index} for index, (x, y) in enumerate(points)]})

    touch([(700, 400)], [(640, 402)], [(560, 404)], [])
    chat.wait("document.querySelector('.viewer img').alt === 'Picture 2'")
    touch([(500, 400)], [(560, 402)], [(640, 404)], [])
    chat.wait("document.querySelector('.viewer img').alt === 'Picture 1'")
    touch([(500, 400)], [(500, 400), (600, 400)], [(450, 400), (650, 400)], [])
    chat.wait("new DOMMatrix(document.querySelector('.viewer img').style.transform).a > 1.5")
    # What is zoomed moves with the finger.
    touch([(500, 400)], [(560, 402)], [(640, 404)], [])
    assert shown(chat)[0] == "Picture 1"
    chat.driver.switch_to.active_element.send_keys("0")
    touch([(500, 300)], [(500, 380)], [(502, 460)], [])
    chat.wait("!document.querySelector('.viewer')")


def test_mouse_zooms_and_closes(chats, images):
    chat = open_viewer(chats, images)
    image = chat.find(".viewer img")
    ActionChains(chat.driver).double_click(image).perform()
    chat.wait("new DOMMatrix(document.querySelector('.viewer img').style.transform).a > 2")
    ActionChains(chat.driver).double_click(image).perform()
    chat.wait("new DOMMatrix(document.querySelector('.viewer img').style.transform).a === 1")
    chat.find(".viewer .previous").click()
    assert shown(chat) == ["Picture 0", 1]
    ActionChains(chat.driver).move_to_element_with_offset(chat.find(".stage"), -500, 0).click().perform()
    chat.wait("!document.querySelector('.viewer')")
