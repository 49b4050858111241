#!/usr/bin/env python3
"""usage: docs_links_test.py
Every relative link of the Markdown pages leads to a file of the repository, and to a heading where it names one."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page):
    """The page without its code: a link within is none."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^    .*$", "", text, flags=re.M))


def anchors(page):
    """As GitHub makes them: lower case, spaces become hyphens, other punctuation goes."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page):
    for link in LINK.findall(prose(page)):
        path, _, anchor = link.partition("#")
        if re.match(r"[a-z]+:", link):
            continue
        target = page if not path else (page.parent / path).resolve()
        if not target.exists():
            yield f"{page.name}: {link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{page.name}: {link}: no such heading"


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "data").rglob("*.md")]
        self.assertGreater(len(pages), 10)
        self.assertEqual([], [problem for page in sorted(pages) for problem in broken(page)])

    def test_headings_become_anchors(self):
        self.assertIn("inference-where-a-pass-goes", anchors(ROOT / "docs/kernels/README.md"))


if __name__ == "__main__":
    unittest.main()
