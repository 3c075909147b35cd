"""The JavaScript package in pages of another origin: as modules from the server, and bundled with React; the code of its documentation."""

import json
import pathlib
import re
import subprocess
import urllib.request

import pytest
from conftest import DEADLINE, ROOT
from selenium.webdriver.support.ui import WebDriverWait

REACT = "/usr/share/nodejs"
# Packages that code of the documentation imports, and that a test has no use for.
STORAGE = """
const values = new Map();
export default {
    getItem: async (key) => values.get(key) ?? null, setItem: async (key, value) => void values.set(key, value),
    removeItem: async (key) => void values.delete(key), getAllKeys: async () => [...values.keys()],
};
"""


@pytest.fixture
def folder(server, tmp_path):
    """An app's folder with the package, as a server's archive has it."""
    version = json.loads((ROOT / "Sources/Page/client/package.json").read_text())["version"]
    archive = tmp_path / "package.tgz"
    with urllib.request.urlopen(f"{server.url}/backscroll-{version}.tgz", timeout=DEADLINE) as answer:
        archive.write_bytes(answer.read())
    modules = tmp_path / "app/node_modules"
    modules.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", archive, "-C", modules], check=True)
    (modules / "package").rename(modules / "backscroll")
    storage = modules / "@react-native-async-storage/async-storage"
    storage.mkdir(parents=True)
    (storage / "index.js").write_text(STORAGE)
    return modules.parent


def bundle(folder, source):
    """Returns a program as one module."""
    (folder / "app.jsx").write_text(source)
    command = ["esbuild", "app.jsx", "--bundle", "--format=esm", "--jsx=automatic", '--define:process.env.NODE_ENV="production"']
    done = subprocess.run(command, cwd=folder, env={"NODE_PATH": REACT, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(page, source):
    """Runs a module in a page, and keeps its errors in `window.log`."""
    page.run("window.log = []; window.onerror = (message) => log.push(message);"
             "window.onunhandledrejection = ({ reason }) => log.push(String(reason));"
             "const node = document.createElement('script'); Object.assign(node, { type: 'module', textContent: arguments[0] });"
             "document.body.append(node)", source)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "docs/javascript.md").read_text(), re.S)


def texts(server, user="bob"):
    return [message.get("text") for message in server.request("GET", f"/v1/rooms/lobby/messages?user={user}&limit=200")["messages"]]


# As modules from the server


def test_page_of_another_origin_imports_the_client_from_the_server(server, page):
    server.send("before", user="bob")
    run(page, f"""
        import {{ Client }} from "{server.url}/backscroll.js";
        const client = new Client({{ url: "{server.url}", user: "alice" }});
        window.room = await client.room("lobby").open();
        await room.send("hello");""")
    shown = "window.room?.view.rows.flatMap(({ message }) => message?.text ?? []).join()"
    page.wait(f"{shown} === 'before,hello'")
    server.send("pushed", user="bob")
    page.wait(f"{shown} === 'before,hello,pushed'")
    assert texts(server) == ["before", "hello", "pushed"]


def test_page_of_an_origin_that_is_not_allowed_cannot_import_it(start_server, page):
    refused = start_server(allow=None)
    result = page.driver.execute_async_script(
        "import(arguments[0]).then(() => arguments[1]('imported'), () => arguments[1]('refused'))", f"{refused.url}/backscroll.js")
    assert result == "refused"


def test_support_chat_works_on_a_website(server, page):
    source = (ROOT / "examples/embed.html").read_text()
    page.run("history.replaceState(null, '', `/?visitor=carol&server=${arguments[0]}`); document.body.innerHTML = arguments[1]",
             server.url, re.search(r"(<div id=\"support\">.*?)<script", source, re.S)[1])
    run(page, re.search(r"<script type=\"module\">(.*)</script>", source, re.S)[1])
    page.wait("document.querySelector('#support > button').onclick !== null")
    page.run("document.querySelector('#support > button').click(); document.querySelector('#support input').value = 'Where is my parcel?';"
             "document.querySelector('#support form').requestSubmit()")
    page.wait("document.querySelector('#support li.mine[data-state=stored]')")
    server.send("On its way", room="support.carol", user="support")
    page.wait("document.querySelector('#support li.theirs')?.textContent === 'On its way'")


# Bundled with React


@pytest.fixture
def react(folder, server, page):
    """The example of a chat with React."""
    page.run("history.replaceState(null, '', `/?user=alice&server=${arguments[0]}`); document.body.innerHTML ="
             "'<div id=root style=\"display: grid; height: 100vh\"></div>'", server.url)
    run(page, bundle(folder, (ROOT / "examples/react-chat/chat.jsx").read_text()))
    page.wait("document.querySelector('ol[data-connection=live]')")
    return page


def write(page, text):
    """Writes a message, as a user does."""
    page.run("const input = document.querySelector('input'); input.value = arguments[0]; input.form.requestSubmit()", text)


STORED = "[...document.querySelectorAll('li[data-state=stored] span')].map((node) => node.textContent)"


def test_react_page_shows_and_sends_messages(server, react):
    write(react, "hello")
    react.wait("document.querySelector('li[data-state=stored]')")
    server.send("pushed", user="bob")
    react.wait(f"{STORED}.join() === 'hello,pushed'")
    react.wait("document.querySelector('nav [data-room=lobby]')")
    server.request("PUT", "/v1/rooms/plans?user=bob", {"visibility": "open"})
    server.request("PUT", "/v1/rooms/plans/members/alice?user=bob", {"role": "member"})
    server.send("elsewhere", room="plans", user="bob")
    react.wait("document.querySelector('nav [data-room=plans]')?.textContent.includes('elsewhere')")
    react.run("document.querySelector('nav [data-room=plans]').click()")
    react.wait(f"{STORED}.join() === 'elsewhere'")
    react.run("document.querySelector('nav [data-room=lobby]').click()")
    react.wait(f"{STORED}.join() === 'hello,pushed'")
    assert react.run("return window.log") == []


def test_react_page_sends_each_message_once_while_the_server_is_killed(server, react):
    sent = [f"number {number}" for number in range(12)]
    for index, text in enumerate(sent):
        write(react, text)
        if index % 4 == 3:
            server.process.kill()
            server.process.wait(DEADLINE)
            server.process.stdout.close()
            server.start()
    react.wait(f"{STORED}.length === {len(sent)}")
    assert react.run(f"return {STORED}") == sent
    assert texts(server) == sent


# The documentation


def test_code_of_the_documentation_runs_in_a_page(folder, server, page):
    source = "\n".join(block for block in blocks("js") if "backscroll/server" not in block)
    imports = "\n".join(re.findall(r"^import .*$", source, re.M))
    # The page's server is in open mode, and asks for no token.
    program = re.sub(r"^import .*$", "", source, flags=re.M).replace("https://chat.example.com", server.url)
    # Only an owner of the room may pin.
    server.request("PUT", "/v1/rooms/lobby?user=alice", {})
    run(page, bundle(folder, f"""{imports}
        const carol = new Client({{ url: "{server.url}", user: "bob" }});
        await carol.room("lobby").send("from bob");
        {program}
        window.drawn = room.view.rows.map(draw);
        await store.set("a", {{ b: 1 }});
        window.kept = [(await store.get("a")).b, await store.get("c") ?? null, (await store.keys("a")).length];
        window.listed = rooms.view.rooms.map((room) => room.room);"""))
    page.wait("window.listed || log.length")
    assert page.run("return log") == []
    assert page.run("return drawn.slice(1)")[-2:] == ["me: hello", "not sent (empty_message): undefined"]
    assert page.run("return kept") == [1, None, 1]
    assert page.run("return listed.includes('plans')")
    assert [member["user"] for member in server.request("GET", "/v1/rooms/plans/members?user=bob")["members"]] == ["alice", "bob"]


def test_code_of_the_documentation_runs_with_react(folder, server, page):
    (source,) = blocks("jsx")
    run(page, bundle(folder, source.replace("https://chat.example.com", server.url)))
    page.wait("document.querySelector('input')")
    write(page, "hello")
    page.wait("document.querySelector('li:last-child')?.textContent === 'hello'")
    WebDriverWait(page.driver, DEADLINE, 0.05).until(lambda _: texts(server) == ["hello"])
    assert page.run("return log") == []


def test_code_of_the_documentation_runs_in_a_backend(folder, tokens):
    (source,) = [block for block in blocks("js") if "backscroll/server" in block]
    tokens.server.request("POST", "/v1/rooms/lobby/messages", {"text": "hello"}, Authorization=f"Bearer {tokens.make('alice')}")
    program = source.replace("https://chat.example.com", tokens.server.url)
    (folder / "backend.mjs").write_text(program + "\nconsole.log(page.messages[0].text, token.split('.').length, typeof verifyWebhook);")
    node = pathlib.Path(ROOT / ".build/python/bin/node")
    done = subprocess.run([node, "backend.mjs"], cwd=folder, env={"CHAT_SECRET": tokens.secret}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("hello 3 function\n", "")
