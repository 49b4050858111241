#!/usr/bin/env python3
"""Reports as a reader and a browser see them. Usage: report_html_test.py SWINSCOPE [UnittestArgument…]

Valid: every element is closed in order and stands where HTML allows it, ids are there once, links lead somewhere.
No figure twice with two values: what tables, charts, cards and sentences show is what the embedded JSON has.
"""
import functools
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
EXPERIMENT = "swinscope_swin_large_weak_2gpu"
REPORTS = (EXPERIMENT, "swinscope_swinv2b_upernet_weak_2gpu", "swinscope_swin_tiny_graph_1gpu.db", "pytorch_swin_tiny_ddp_2gpu")
SHOWN_ROWS = 15
VOID = {"meta", "br"}
PHRASING = {"a", "code", "span", "b", "title", "desc", "text"}
ROWS_OF = {"table": {"thead", "tbody"}, "thead": {"tr"}, "tbody": {"tr"}, "tr": {"th", "td"}, "ol": {"li"}}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "h": 3600e9, "%": 1}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children = tag, attributes, parent, []

    def is_within(self, tag, css_class=None):
        at = self.parent
        while at and not (at.tag == tag and css_class in (None, at.attributes.get("class"))):
            at = at.parent
        return at is not None

    def all(self, tag=None):
        for child in self.children:
            if isinstance(child, Element):
                if tag in (None, child.tag):
                    yield child
                yield from child.all(tag)

    def text(self):
        return "".join(child.text() if isinstance(child, Element) else child for child in self.children)


class StrictParser(html.parser.HTMLParser):
    """Nothing is implied: it says what a browser would have to mend."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", {}, None)
        self.faults = []
        self.feed(page)
        self.close()
        if self.at is not self.root:
            self.faults.append(f"<{self.at.tag}> is not closed")

    def handle_starttag(self, tag, attributes):
        if len(dict(attributes)) != len(attributes):
            self.faults.append(f"<{tag}> has an attribute twice")
        if self.at.tag in ROWS_OF and tag not in ROWS_OF[self.at.tag]:
            self.faults.append(f"<{tag}> in <{self.at.tag}>")
        if self.at.tag in ("p", "h1", "h2", "h3", "summary", "span") and tag not in PHRASING:
            self.faults.append(f"<{tag}> in <{self.at.tag}>")
        element = Element(tag, dict(attributes), self.at)
        self.at.children.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.at = self.at.parent

    def handle_endtag(self, tag):
        if tag != self.at.tag:
            self.faults.append(f"</{tag}> closes <{self.at.tag}>")
        self.at = self.at.parent or self.root

    def handle_data(self, data):
        if self.at.tag in ROWS_OF and data.strip():
            self.faults.append(f"text in <{self.at.tag}>: {data.strip()}")
        self.at.children.append(data)


class Report:
    def __init__(self, name):
        with tempfile.TemporaryDirectory() as folder:
            command = [PROGRAM, "report", str(SOURCE / "data" / name), "-q", "-o"]
            pages = []
            for file in ("a.html", "b.html"):
                subprocess.run([*command, str(pathlib.Path(folder) / file)], check=True)
                pages.append((pathlib.Path(folder) / file).read_bytes())
        self.is_same_twice = pages[0] == pages[1]
        self.page = pages[0].decode()
        self.parser = StrictParser(self.page)
        self.root = self.parser.root
        self.data = [part["data"] for part in json.loads(self.by_id("data").text())]
        self.summary = self.by_id("summary")

    def by_id(self, name):
        return next(element for element in self.root.all() if element.attributes.get("id") == name)


def numbers_of(value):
    """Every number of a JSON document."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers_of(one)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def shown_row(keys, row):
    """Column -> value of the cells with numbers."""
    values = {}
    for key, cell in zip(keys, row.all("td")):
        if "data-v" in cell.attributes:
            values[key] = float(cell.attributes["data-v"])
    return values


def losses(data):
    """What the larger points of an experiment take longer than the first, in ns and in percent of it."""
    steps = [row["step_ns"] for part in data for row in part.get("points", [])]
    return [amount for step in steps for amount in (abs(step - steps[0]), 100 * abs(step / steps[0] - 1))]


def of_each_report(check):
    @functools.wraps(check)
    def check_each(self):
        for name, report in self.reports.items():
            with self.subTest(name):
                check(self, report)
    return check_each


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.reports = {name: Report(name) for name in REPORTS}

    @of_each_report
    def test_is_the_same_twice(self, report):
        self.assertTrue(report.is_same_twice)

    @of_each_report
    def test_is_valid(self, report):
        self.assertEqual(report.parser.faults, [])
        body = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", report.page, flags=re.S)
        self.assertEqual(re.findall(r"&(?!(?:amp|lt|gt|quot|#39);)", body), [])
        ids = [e.attributes["id"] for e in report.root.all() if "id" in e.attributes]
        self.assertEqual(len(ids), len(set(ids)))
        for element in report.root.all():
            wanted = element.attributes.get("aria-labelledby", "").split()
            if element.tag == "a":
                wanted.append(element.attributes["href"].removeprefix("#"))
            self.assertLessEqual(set(wanted), set(ids))

    @of_each_report
    def test_long_tables_are_folded(self, report):
        for body in report.root.all("tbody"):
            if not body.is_within("details") and not body.parent.attributes.get("class") == "facts":
                self.assertLessEqual(len(list(body.all("tr"))), SHOWN_ROWS)

    @of_each_report
    def test_tables_have_the_values_of_the_json(self, report):
        compared = 0
        for table in report.root.all("table"):
            key = table.attributes.get("data-table")
            rows = [row for part in report.data if isinstance(part.get(key), list) for row in part[key]]
            keys = [head.attributes["data-key"] for head in table.all("th") if "data-key" in head.attributes]
            for row in next(table.all("tbody")).all("tr") if rows else ():
                shown = shown_row(keys, row)
                if not shown or next(row.all("td")).text() == "sum":  # which only the chart of the parts has
                    continue
                compared += 1
                self.assertTrue(any(all(one.get(k) == v for k, v in shown.items()) for one in rows), (key, shown))
        self.assertGreater(compared, 5)

    @of_each_report
    def test_cards_have_the_values_of_the_json(self, report):
        cards = [card for card in report.summary.all("b") if "data-key" in card.attributes]
        self.assertGreaterEqual(len(cards), 3)
        for card in cards:
            key, value = card.attributes["data-key"], float(card.attributes["data-v"])
            known = [part[key] for part in report.data if key in part]
            known += [row.get(key) for part in report.data for row in part.get("points", [])]
            self.assertIn(value, known, key)
        self.assertEqual(len({card.attributes["data-key"] for card in cards}), len(cards))

    @of_each_report
    def test_numbers_of_the_first_page_are_known(self, report):
        """Each with a unit, in sentences and beside the marks of charts: a number of the JSON, a table or a fact."""
        known = [abs(value) for value in numbers_of(report.data)]
        known += losses(report.data)
        known += [abs(float(e.attributes["data-v"])) for e in report.root.all() if "data-v" in e.attributes]
        found = 0
        for text in [e.text() for tag in ("p", "text", "td") for e in report.summary.all(tag)]:
            for number, unit in re.findall(r"(?<![\w.])(\d+(?:\.\d+)?) (ns|us|ms|s|h|%)(?![\w/])", text):
                found += 1
                half = 0.5001 * 10 ** -len(number.partition(".")[2]) * UNITS[unit]
                value = float(number) * UNITS[unit]
                self.assertTrue(any(abs(value - one) <= half for one in known), f"{number} {unit} in: {text}")
        self.assertGreater(found, 3)

    @of_each_report
    def test_quantities_in_two_places_are_one(self, report):
        for part in report.data:
            if "utilization" in part:
                busy = [row["gpu_busy_percent"] for row in part["utilization"]]
                self.assertAlmostEqual(part["gpu_busy_percent"], sum(busy) / len(busy), 9)
                self.assertEqual(part["step_ns"], max(row["step_ns"] for row in part["steps"]))
                self.assertEqual(part["bounds_sum_ns"], sum(row["per_step_ns"] for row in part["bounds"]))

    def test_an_experiment_and_its_traced_run_say_the_same(self):
        points, traced = self.reports[EXPERIMENT].data
        last = points["points"][-1]
        self.assertEqual(last["gpu_busy_percent"], traced["gpu_busy_percent"])
        self.assertEqual(last["traced_step_ns"], traced["step_ns"])
        parts = [row["time_ns"] for row in points["scaling_loss"]]
        self.assertEqual([parts[0], parts[-1]], [row["step_ns"] for row in points["points"]])
        self.assertEqual(sum(parts[:-1]), parts[-1])

    def test_first_page_is_what_one_decides_from(self):
        report = self.reports[EXPERIMENT]
        elements = list(report.root.all())
        first = elements.index(report.summary)
        self.assertLess(first, elements.index(next(report.root.all("nav"))))
        self.assertEqual(report.page.count("<section"), 1 + len(list(next(report.root.all("nav")).all("li"))))
        headings = [heading.text() for heading in report.summary.all("h2")]
        self.assertEqual(headings, ["Why it is not better", "What to do next", "What was run"])
        charts = [next(svg.all("title")).text() for svg in report.summary.all("svg")]
        self.assertEqual(charts, ["Why steps take longer, per step: 2 GPUs", "Parallel efficiency", "Throughput", "GPU utilization"])
        self.assertIn("0.9441", [text.text() for text in report.summary.all("text")])
        text = report.summary.text()
        for fact in ("swin_large", "2 x NVIDIA H200", "--batch-per-gpu 64", "h200", "2 ranks, all recorded", "2026-11-25 00:32:38 UTC",
                     "noise from run to run, power and clocks of the GPUs"):
            self.assertIn(fact, text)
        self.assertEqual(text.count("n = 1 run at each point"), 1)
        self.assertEqual(report.page.count("n = 1 run at each point"), 1)
        self.assertEqual(len(list(report.summary.all("tbody"))) - len(list(report.summary.all("figure"))), 2)

    def test_an_experiment_without_a_trace_says_that_causes_are_not_known(self):
        text = self.reports["swinscope_swinv2b_upernet_weak_2gpu"].summary.text()
        self.assertIn("Trace the points (swinscope scale does, unless it is told --no-trace)", text)
        self.assertIn("noise from run to run, where the time goes", text)
        self.assertNotIn("Trace the points", self.reports[EXPERIMENT].summary.text())

    @of_each_report
    def test_names_of_things_not_keys_and_no_paths_of_this_machine(self, report):
        body = report.root.text().replace(self.json_text(report), "")
        for key in ("memory.total_bytes", "cpu.model", "os.release", "cuda_driver_version", "gpu.0.name", str(SOURCE)):
            self.assertNotIn(key, body)

    @staticmethod
    def json_text(report):
        return report.by_id("data").text()


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
