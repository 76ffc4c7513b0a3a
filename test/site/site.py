#!/usr/bin/python3
"""Test the site that mkdocs has built, as files and in Chromium.

Usage: site.py SITE SCREENSHOTS

SITE is the folder with the site, and SCREENSHOTS is a new folder for pictures of some pages.
"""

import base64
import functools
import html
import http.server
import os
import re
import subprocess
import sys
import threading
import zlib
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(sys.argv[1])
SCREENSHOTS = Path(sys.argv[2])
# the path of the site, as in https://example.org/uuid9562/
PREFIX = urlsplit(os.environ.get("SITE", "")).path or "/"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))

failures = 0


def check(wrong, name):
    """Report a test, which has passed if the list "wrong" is empty."""
    global failures
    print(f"{'not ok' if wrong else 'ok'} - {name}", flush=True)
    for line in wrong:
        print(f"# {line}")
    failures += bool(wrong)


# --- the files ---------------------------------------------------------------


def test_links():
    """Follow each link to a page, and to a heading.  The browser reports other files that are missing."""
    texts = {page: (SITE / page).read_text() for page in PAGES}
    for page, text in texts.items():
        broken = []
        for link in re.findall(r'<(?:a|link)\s[^>]*?\bhref="([^"]*)"', text):
            target = urlsplit(unquote(urljoin(f"http://here{PREFIX}{page}", html.unescape(link))))
            name = target.path.removeprefix(PREFIX) or "index.html"
            exists = (SITE / name).is_file() and (not target.fragment or f' id="{target.fragment}"' in texts[name])
            broken += [link] if target.netloc == "here" and not exists else []
        check(broken, f"{page}: every link has a target")


BLOCKS = "h[1-6]|[ou]l|li|pre|table|t[rhd]|blockquote|img|sup|kbd|hr"


def outline(text):
    """Return the blocks of a page with their text, without what only mkdocs or only GitHub writes."""
    page = BeautifulSoup(re.sub("<!--.*?-->", "", text, flags=re.S), "html.parser")
    for tag in page.find_all(True):
        if tag.get("class") == ["headerlink"]:
            tag.decompose()
        elif tag.find_parent("pre") or not re.fullmatch(f"{BLOCKS}|code|em|strong|del|a", tag.name):
            tag.unwrap()
        else:
            tag.attrs = {}
    blocks = re.split(f"(?=</?(?:{BLOCKS})\\b)", page.decode())
    # mkdocs replaces tabs in code
    blocks = ["<pre>" + block[5:].expandtabs(4).rstrip() if block.startswith("<pre>") else " ".join(block.split()) for block in blocks]
    return [block for block in blocks if block]


def source(page):
    """Return the file of the repository from which mkdocs makes a page of the site."""
    sys.path.insert(0, str(ROOT / "site"))
    import hooks

    return ROOT / hooks.source_of(page.replace(".html", ".md"))


def test_rendering():
    """Compare each page with the output of GitHub's renderer for Markdown."""
    for page in PAGES:
        if page == "404.html":
            continue
        command = ["cmark-gfm", "--unsafe", "-e", "table", "-e", "strikethrough", "-e", "autolink", source(page)]
        expected = outline(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        article = re.search(r"<article.*?>(.*)</article>", (SITE / page).read_text(), re.S)
        actual = outline(article[1])
        different = [pair for pair in zip(expected, actual) if pair[0] != pair[1]]
        wrong = [f"instead of {different[0][0]!r}: {different[0][1]!r}"] if different else []
        if len(expected) != len(actual):
            wrong.append(f"{len(actual)} blocks instead of {len(expected)}")
        check(wrong, f"{page}: is rendered as in the repository")


def test_highlighting():
    for language in "sql", "sh", "python", "js":
        blocks = [
            block
            for page in PAGES
            for block in re.findall(rf'<div class="language-{language} .*?</div>', (SITE / page).read_text(), re.S)
        ]
        plain = [re.sub("<.*?>", "", block).strip()[:60] for block in blocks if '<span class="' not in block]
        check(plain if blocks else ["there are none"], f"code in {language} is highlighted")


# --- in the browser ----------------------------------------------------------

SWITCH = "form[data-md-component=palette] label:not([hidden])"


class Server(http.server.SimpleHTTPRequestHandler):
    """Serve the site, with a policy that makes the browser report requests to other hosts."""

    reports = []

    def translate_path(self, path):
        return super().translate_path(path[len(PREFIX) - 1 :] if path.startswith(PREFIX) else "/404.html")

    def end_headers(self):
        self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline' data:; report-uri /report")
        super().end_headers()

    def do_POST(self):
        self.reports.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Browser:
    def __init__(self, address):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars":
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.address = address
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)

    def prefer(self, scheme):
        """Behave as at the first visit, on a system that prefers light or dark pages."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.open("index.html")
        self.run("localStorage.clear()")

    def resize(self, width, height=900):
        """Set the size of the window, even below the smallest size that the desktop allows."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open(self, page):
        """Open a page, and wait until its script shows the switch between light and dark."""
        self.driver.get(self.address + page)
        self.wait(f"return document.querySelector('{SWITCH}')")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition):
        """Wait until a script returns true, and return whether it has."""
        try:
            return WebDriverWait(self.driver, 30).until(lambda driver: self.run(condition))
        except Exception:
            return False

    def picture(self, x, y, width, height):
        """Return a picture of a part of the page, in the format PNG."""
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        options = {"clip": clip, "captureBeyondViewport": True}
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"])

    def pixel(self, x, y):
        """Return the red, green and blue of a pixel of the page."""
        picture = self.picture(x, y, 1, 1)
        start = picture.index(b"IDAT")
        length = int.from_bytes(picture[start - 4 : start], "big")
        return list(zlib.decompressobj().decompress(picture[start + 4 : start + 4 + length])[1:4])

    def save(self, name):
        """Save a picture of the top of the page."""
        width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        (SCREENSHOTS / f"{name.replace('/', '-')}.png").write_bytes(self.picture(0, 0, width, min(height, 2400)))

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]


# Return the scheme in use, and whether the background is dark.
SCHEME = """
    const color = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3);
    return [document.body.dataset.mdColorScheme, color.reduce((sum, part) => sum + +part, 0) < 384];
"""
# Return the texts of code that is wider than its box.
SCROLLED_CODE = """
    return [...document.querySelectorAll('article pre > code')].filter(c => c.scrollWidth > c.clientWidth)
        .map(c => c.textContent);
"""
# On these pages, all code fits.  On the others, lines of more than 100 characters may be too wide.
MAIN_PAGES = ["index.html", "time.html", "incremental-reads.html", "changes.html", "uuid9562.html"]
# Return the links that contain some words, or are in a table row or list item that does, and that
# can be clicked without scrolling.
LINKS = """
    return [...document.querySelectorAll('a[href]')].filter(link => {
        const box = link.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
        return box.width && box.top >= 0 && box.bottom <= innerHeight && link.contains(document.elementFromPoint(x, y))
            && (link.closest('tr, article li') || link).textContent.includes(arguments[0]);
    });
"""


# Return code without a visible button that copies it, and results with one.
WRONG_BUTTONS = """
    return [...document.querySelectorAll('article pre .md-clipboard')]
        .filter(button => !button.offsetParent != !!button.closest('.language-text'))
        .map(button => button.closest('pre').textContent.slice(0, 60));
"""


def test_pages(browser):
    """Open each page on a desktop and on a phone."""
    for page in PAGES:
        browser.resize(1280, 800)
        browser.open(page)
        wrong = browser.errors()
        wrong += browser.run("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src + ' is not shown')")
        for width in 1280, 360:
            browser.resize(width, 800)
            actual = browser.run("return document.documentElement.scrollWidth")
            wrong += [f"is {actual} pixels wide in a window of {width}"] if actual > width else []
        check(wrong, f"{page}: no error, and nothing wider than the window")

        browser.resize(1280, 800)
        browser.save(page)
        lines = [max(code.splitlines(), key=len) for code in browser.run(SCROLLED_CODE)]
        wrong = [line for line in lines if page in MAIN_PAGES or len(line) <= 100]
        check(wrong, f"{page}: code fits a window of 1280 pixels")

        wrong = browser.run(WRONG_BUTTONS)
        check(wrong, f"{page}: code can be copied, and results cannot")

        wrong = []
        for top in "0", "document.body.scrollHeight":
            browser.run(f"scrollTo({{top: {top}, behavior: 'instant'}})")
            missing = [words for words in ("Reference", "Errors", "Changelog") if not browser.run(LINKS, words)]
            wrong += [f"{words} is not in sight, scrolled to {top}" for words in missing]
        check(wrong, f"{page}: Reference, Errors and Changelog are in sight")


# Return the smallest text of a picture, in its own pixels, and texts that leave it or touch others.
PICTURE = """
    const texts = [...document.querySelectorAll('text')].map(t => [t, t.getBoundingClientRect()]);
    const {width, height} = document.documentElement.viewBox.baseVal;
    const wrong = texts.filter(([t, b]) => b.left < 0 || b.top < 0 || b.right > width || b.bottom > height)
        .map(([t]) => t.textContent + ' leaves the picture');
    texts.forEach(([t, a], i) => texts.slice(i + 1).forEach(([u, b]) => {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
            wrong.push(t.textContent + ' touches ' + u.textContent);
    }));
    return [Math.min(...texts.map(([t]) => parseFloat(getComputedStyle(t).fontSize))), wrong];
"""
# Return each picture's address and scale, whether it has to be scrolled, and a point of its background.
SHOWN_PICTURES = """
    return [...document.querySelectorAll('article img')].map(i => {
        const box = i.getBoundingClientRect(), around = i.closest('p, li, td, div').getBoundingClientRect();
        return {address: i.src, scale: box.width / i.naturalWidth, hidden: box.left < around.left || box.right > around.right + 1,
                x: box.left + scrollX + box.width / 2, y: box.top + scrollY + 5};
    });
"""
# Return texts with small letters.
SMALL_TEXTS = """
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
        const range = document.createRange(), size = parseFloat(getComputedStyle(texts.currentNode.parentElement).fontSize);
        range.selectNodeContents(texts.currentNode);
        if (size < 11 && range.getBoundingClientRect().width > 0)
            found.push(`${size} pixels: ${texts.currentNode.data.slice(0, 60)}`);
    }
    return found;
"""
# Return the texts of table cells that are broken into three or more lines of less than eight
# characters on average, or wider than the cell.
BROKEN_CELLS = """
    return [...document.querySelectorAll('article td, article th')].filter(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        const boxes = [...range.getClientRects()].filter(box => box.width > 1);
        const middles = boxes.map(box => box.top + box.height / 2).sort((a, b) => a - b);
        const lines = middles.filter((y, i) => i == 0 || y - middles[i - 1] > 8).length;
        return lines > 2 && cell.textContent.length / lines < 8
            || boxes.some(box => box.right > cell.getBoundingClientRect().right + 1);
    }).map(cell => cell.textContent);
"""


def test_phone(browser):
    """Read each page on a phone of 390 pixels: pictures, letters and tables."""
    smallest = {}
    browser.resize(1280)
    for picture in sorted(SITE.rglob("pictures/*.svg")):
        browser.driver.get(browser.address + picture.relative_to(SITE).as_posix())
        smallest[browser.driver.current_url], wrong = browser.run(PICTURE)
        check(wrong, f"{picture.name}: texts are inside the picture, and apart")
    browser.resize(390)
    for scheme in "light", "dark":
        browser.prefer(scheme)
        for page in PAGES:
            browser.open(page)
            browser.save(f"{page}-{scheme}-phone")
            wrong = []
            for picture in browser.run(SHOWN_PICTURES):
                size = smallest[picture["address"]] * picture["scale"]
                wrong += [f"{picture['address']} has text of {size:.1f} pixels"] if size < 11 else []
                wrong += [f"{picture['address']} is partly hidden"] if picture["hidden"] else []
                is_dark = sum(browser.pixel(picture["x"], picture["y"])) < 384
                wrong += [f"{picture['address']} is not {scheme}"] if is_dark != (scheme == "dark") else []
            wrong += browser.run(SMALL_TEXTS)
            wrong += [f"broken cell: {cell}" for cell in browser.run(BROKEN_CELLS)]
            check(wrong, f"{page}: is legible on a phone, {scheme}")
    browser.prefer("light")


# pages, and words with which people search for them
SEARCHES = {
    "time.html": ["pagination", "keyset", "cursor", "created_at"],
    "servers.html": ["snowflake", "multi-master"],
    "connectors.html": ["kafka"],
    "changes.html": ["cdc", "polling", "lag"],
    "outbox.html": ["outbox", "exactly once"],
    "formats.html": ["duplicate"],
    "migrating.html": ["mongodb"],
    "public-ids.html": ["hide", "privacy", "gdpr"],
    "clients.html": ["rails"],
    "ordered-ids.html": ["monotonic", "sequence"],
    "benchmarks.html": ["performance", "latency"],
    "incremental-reads.html": ["max(id)", "horizon"],
    "uuid9562.html": ["uuidv7", "uuidv7_horizon()"],
    "uuid9562_changes.html": ["changes_forget"],
}
# Search for all words at once, since the first letters of a word have other results.
SEARCH = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('keyup'))"
RESULTS = "[...document.querySelectorAll('.md-search-result__item')].map(i => new URL(i.querySelector('a').href).pathname)"


def test_search(browser):
    browser.resize(1280)
    browser.open("index.html")
    browser.wait("return !document.querySelector('.md-search-result__meta').textContent.includes('Initializing')")
    field = browser.driver.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]")
    field.click()
    for page, words in ((page, words) for page, searches in SEARCHES.items() for words in searches):
        browser.run(SEARCH, field, "")
        browser.wait(f"return {RESULTS}.length == 0")
        browser.run(SEARCH, field, words)
        found = browser.wait(f"return {RESULTS}[0] == '{PREFIX}{page}'")
        wrong = [] if found else [f"the results are {browser.run(f'return {RESULTS}')}"]
        text = re.sub("<.*?>", "", re.search("<article.*</article>", (SITE / page).read_text(), re.S)[0])
        wrong += [] if words in text.lower() else ["the page does not contain the words"]
        check(wrong, f'a search for "{words}" shows {page} first')
    browser.driver.save_screenshot(str(SCREENSHOTS / "search.png"))


# a task, words of the links to click, and the page
TASKS = [
    ("rows of yesterday", ["All pages", "get the rows"], "time.html"),
    ("skipped rows", ["All pages", "skip"], "changes.html"),
    ("hide the time", ["All pages", "hide"], "public-ids.html"),
    ("v4 to v7", ["All pages", "v4"], "migrating.html"),
    ("which function", ["Reference"], "uuid9562.html"),
    ("RDS", ["All pages", "RDS"], "hosted.html"),
]


def test_tasks(browser):
    """Reach a page for each task in two clicks, without scrolling."""
    browser.resize(1280, 800)
    for task, clicks, page in TASKS:
        wrong = []
        browser.open("index.html")
        for words in clicks:
            links = browser.run(LINKS, words)
            if not links:
                wrong.append(f'no link with "{words}" is in sight')
                break
            links[0].click()
        actual = urlsplit(browser.driver.current_url).path[len(PREFIX) :]
        wrong += [f"they lead to {actual}"] if actual != page else []
        wrong += ["these are more than two clicks"] if len(clicks) > 2 else []
        check(wrong, f'at most two clicks lead to {page} for "{task}"')


def test_switch(browser):
    def switch(scheme):
        browser.driver.find_element(By.CSS_SELECTOR, SWITCH).click()
        browser.wait(f"return document.body.dataset.mdColorScheme == '{scheme}'")
        return browser.run(SCHEME)

    for preferred, scheme, other in ("light", "default", "slate"), ("dark", "slate", "default"):
        browser.prefer(preferred)
        browser.open("index.html")
        actual = [browser.run(SCHEME), switch(other)]
        browser.save(f"index.html-{other}")
        browser.open("time.html")
        actual += [browser.run(SCHEME), switch(scheme)]
        expected = [[name, name == "slate"] for name in (scheme, other, other, scheme)]
        check([f"{actual} instead of {expected}"] if actual != expected else [],
              f"the site is {preferred} like the system, and can be switched there and back")


def main():
    os.makedirs(SCREENSHOTS, exist_ok=True)
    test_links()
    test_rendering()
    test_highlighting()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(f"http://127.0.0.1:{server.server_port}{PREFIX}")
    try:
        test_pages(browser)
        test_phone(browser)
        test_search(browser)
        test_tasks(browser)
        test_switch(browser)
        check(sorted(set(browser.errors() + Server.reports)), "the browser has reported no error and no request to another host")
    finally:
        browser.driver.quit()
    sys.exit(failures > 0)


main()
