"""The code of docs/web-app.md, in a page of another origin."""

import base64
import pathlib
import re

from conftest import ROOT


def module(source):
    return "data:text/javascript;base64," + base64.b64encode(source.encode()).decode()


def blocks():
    """Returns the page's code, with addresses that a test can use."""
    return re.findall(r"```js\n(.*?)```", pathlib.Path(ROOT / "docs/web-app.md").read_text(), re.S)


def timeline():
    """Returns the address of timeline.js, with the modules that it imports inlined as addresses, too."""
    def inlined(name):
        source = (ROOT / "Sources/Page/client" / name).read_text()
        return module(re.sub(r'(?<=from ")\./(timeline[a-z-]*\.js)(?=")', lambda match: inlined(match[1]), source))
    return inlined("timeline.js")


def test_page_of_another_origin_sends_and_hosts_the_timeline(server, page):
    _, send, host, use = blocks()
    server.send("before", user="bob")
    page.run("document.body.append(document.createElement('ol'))")
    texts = "[...document.querySelectorAll('li')].map((line) => line.textContent).join()"
    own = lambda source: source.replace("http://localhost:8080", server.url)
    script = host.replace("./timeline.js", timeline()) + own(use)
    # The page's address may be insecure, where browsers have no random ids.
    page.run("crypto.randomUUID ??= () => String(Math.random()); const node = document.createElement('script');"
             "Object.assign(node, { type: 'module', textContent: arguments[0] }); document.body.append(node)", script)
    page.wait(f"{texts} === 'before,hello'")
    server.send("pushed", user="bob")
    page.wait(f"{texts} === 'before,hello,pushed'")
    page.run("const node = document.createElement('script'); Object.assign(node, { type: 'module', textContent: arguments[0] });"
             "document.body.append(node)", own(send))
    page.wait(f"{texts} === 'before,hello,pushed,hello'")
    assert [message["text"] for message in server.request("GET", "/v1/rooms/lobby/messages?user=bob")["messages"]] == [
        "before", "hello", "pushed", "hello"]


def test_page_of_an_origin_that_is_not_allowed_is_refused(start_server, page):
    refused = start_server(allow=None)
    result = page.driver.execute_async_script(
        "fetch(arguments[0]).then(() => arguments[1]('allowed'), () => arguments[1]('refused'))", f"{refused.url}/v1/rooms/lobby?user=alice")
    assert result == "refused"
