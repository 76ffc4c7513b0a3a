"""Hooks of mkdocs.  They add pages outside the folder doc to the site, turn doc/index.md into
the navigation, and rewrite links, so that each link works both in the repository and on the site.
They also tell the search which pages to put first.
"""

import json
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent
# The names on the site of files outside the folder doc, and of doc/index.md.
NAMES = {
    "README.md": "index.md",
    "doc/index.md": "manual.md",
    "examples/README.md": "examples.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
SOURCES = {name: source for source, name in NAMES.items()}
# These pages are tabs of their own, in sight on each page, instead of pages of a section.
TABS = ["errors.md", "changelog.md"]
# The search puts a page first for these words of users.
WORDS = {
    "benchmarks.md": ["performance", "latency", "throughput"],
    "changes.md": ["CDC", "updated_at", "deletes", "polling", "lag"],
    "clients.md": ["Rails", "Django", "Hibernate", "Prisma", "pooler"],
    "connectors.md": ["Kafka", "Airbyte", "dbt", "Debezium"],
    "formats.md": ["duplicate", "collision"],
    "hosted.md": ["RDS", "Aurora", "Supabase", "Neon"],
    "incremental-reads.md": ["max(id)", "skipped", "missed", "horizon"],
    "migrating.md": ["bigserial", "MongoDB", "ObjectId"],
    "ordered-ids.md": ["monotonic", "sequence"],
    "outbox.md": ["outbox", "exactly once"],
    "public-ids.md": ["hide", "privacy", "GDPR"],
    "servers.md": ["Snowflake", "multi-master"],
    "time.md": ["pagination", "keyset", "cursor", "yesterday", "created_at"],
    "uuid9562.md": ["uuidv7", "uuidv7_horizon()"],
    "uuid9562_changes.md": ["changes_track", "changes_forget"],
}


def source_of(name):
    return SOURCES.get(name, "doc/" + name)


def name_of(source):
    """Return the name on the site of a file of the repository; None if it is not there."""
    return NAMES.get(source) or (source[4:] if source.startswith("doc/") else None)


def on_config(config):
    """Make the headings and lists of doc/index.md the sections and pages of the navigation."""
    config["nav"] = [{"Overview": "index.md"}, {"All pages": "manual.md"}]
    tabs = []
    for line in (ROOT / "doc/index.md").read_text("utf-8").splitlines():
        heading = re.fullmatch(r"(##+) (.*)", line)
        if heading and heading[1] == "##":
            section = pages = []
            config["nav"].append({heading[2]: section})
        elif heading:
            pages = []
            section.append({heading[2]: pages})
        item = re.match(r"- \[([^]]+)\]\((\S+\.md)\)", line)
        if item:
            name = name_of(posixpath.normpath("doc/" + item[2]))
            (tabs if name in TABS else pages).append({item[1]: name})
    config["nav"] += tabs
    return config


def on_files(files, config):
    for name in SOURCES:
        if name != "index.md":
            files.append(File(name, config["docs_dir"], config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_read_source(page, config):
    return (ROOT / source_of(page.file.src_uri)).read_text("utf-8")


def on_page_markdown(markdown, page, config, files):
    """Adapt links to renamed pages, and let links to files that are not on the site lead to the
    repository.
    """
    if page.file.src_uri in ["index.md", "manual.md", *TABS]:
        page.meta["hide"] = ["navigation"]
    if page.file.src_uri == "manual.md":
        page.meta["hide"].append("toc")
    folder = posixpath.dirname(source_of(page.file.src_uri))

    def change(link):
        source = posixpath.normpath(posixpath.join(folder, link[2]))
        if not (ROOT / source).is_file():
            return link[0]
        name = name_of(source)
        if name:
            return link[1] + posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or ".")
        return f"{link[1]}{config['repo_url']}/blob/HEAD/{source}"

    return re.sub(r'(\]\(|\bsrc="|\bsrcset=")([^)\s#"]+)', change, markdown)


def on_post_build(config):
    """Add WORDS to the index of the search, as tags, which the theme ranks above titles."""
    path = Path(config["site_dir"], "search/search_index.json")
    index = json.loads(path.read_text("utf-8"))
    for document in index["docs"]:
        words = WORDS.get(document["location"].replace(".html", ".md"))
        if words:
            document["tags"] = words
    path.write_text(json.dumps(index), "utf-8")
