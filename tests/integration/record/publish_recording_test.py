#!/usr/bin/env python3
"""scripts/publish_recording.py on a recording with everything in it that must not leave the house."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
RECORDING = os.path.join(ROOT, "data", "swinscope_swin_tiny_infer_1gpu.db")
SECRETS = ("secret-host", "/home/secret", "GPU-5ec3e7", "0000:5e:c3.0", "SECRET_TOKEN", "secret-thread")


def publish(*arguments):
    return subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "publish_recording.py"), *arguments], capture_output=True,
                          text=True, check=False)


class PublishRecording(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file, self.copy = self.at("rank0.db"), self.at("public/rank0.db")
        shutil.copyfile(RECORDING, self.file)
        with sqlite3.connect(self.file) as database:
            database.execute("UPDATE SWINSCOPE_RUN SET host = 'secret-host', command = '/home/secret/bin/swin infer --model build/models/swin_tiny'")
            database.execute("UPDATE TARGET_INFO_GPU SET uuid = 'GPU-5ec3e7'")
            database.execute("UPDATE TARGET_INFO_CUDA_DEVICE SET uuid = 'GPU-5ec3e7'")
            database.executemany("INSERT INTO SWINSCOPE_ENVIRONMENT VALUES (?, ?)", [
                ("host.name", "secret-host"), ("gpu.0.bus", "0000:5e:c3.0"), ("env.SECRET_TOKEN", "1"), ("gpu.0.name", "NVIDIA H200")])
            database.execute("INSERT INTO SWINSCOPE_COLLECTOR VALUES ('cuda.cupti', '13.0 (/home/secret/lib/libcupti.so.13)')")
            database.execute("INSERT INTO StringIds VALUES (1000000, 'secret-thread')")
            database.execute("INSERT INTO ThreadNames VALUES (1000000, NULL, 7)")
        database.close()

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def value(self, file, sql):
        database = sqlite3.connect(file)
        try:
            return database.execute(sql).fetchone()[0]
        finally:
            database.close()

    def test_what_says_where_it_ran_is_taken_out(self):
        done = publish("--host", "h200", "--to", self.copy, self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.copy, "rb") as file:
            content = file.read()
        for secret in SECRETS:
            self.assertFalse(secret.encode() in content, secret)
        self.assertEqual(self.value(self.copy, "SELECT host FROM SWINSCOPE_RUN"), "h200")
        self.assertEqual(self.value(self.copy, "SELECT command FROM SWINSCOPE_RUN"), "swin infer --model swin_tiny")
        self.assertEqual(self.value(self.copy, "SELECT value FROM SWINSCOPE_ENVIRONMENT WHERE name = 'gpu.0.name'"), "NVIDIA H200")

    def test_what_happened_stays(self):
        publish("--to", self.copy, self.file)
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"):
            sql = f"SELECT count(*) || ' ' || total(start) || ' ' || total(end) FROM {table}"
            self.assertEqual(self.value(self.copy, sql), self.value(self.file, sql))

    def test_steps_that_are_left_out_take_their_kernels_with_them(self):
        launches = ("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) JOIN NVTX_EVENTS n "
                    "ON r.start BETWEEN n.start AND n.end LEFT JOIN StringIds t ON t.id = n.textId WHERE coalesce(n.text, t.value) = 'step %d'")
        self.assertEqual(publish("--to", self.copy, "--steps", "2", self.file).returncode, 0)
        for step in (0, 1):
            self.assertEqual(self.value(self.copy, launches % step), self.value(self.file, launches % step))
            self.assertGreater(self.value(self.copy, launches % step), 0)
        self.assertGreater(self.value(self.file, launches % 2), 0)
        end = self.value(self.file, "SELECT n.end FROM NVTX_EVENTS n LEFT JOIN StringIds t ON t.id = n.textId WHERE coalesce(n.text, t.value) = 'step 1'")
        for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME"):
            self.assertEqual(self.value(self.copy, f"SELECT count(*) FROM {table} WHERE start > {end}"), 0)
        kept = self.value(self.file, f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId) "
                                     f"WHERE r.start <= {end}")
        self.assertEqual(self.value(self.copy, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), kept)

    def test_a_range_keeps_the_name_that_a_thread_has_too(self):
        with sqlite3.connect(self.file) as database:
            text = database.execute("SELECT s.id FROM NVTX_EVENTS n JOIN StringIds s ON s.id = n.textId OR s.value = n.text").fetchone()[0]
            name = database.execute("SELECT value FROM StringIds WHERE id = ?", (text,)).fetchone()[0]
            database.execute("INSERT INTO ThreadNames VALUES (?, NULL, 8)", (text,))
        database.close()
        self.assertEqual(publish("--to", self.copy, self.file).returncode, 0)
        self.assertEqual(self.value(self.copy, f"SELECT value FROM StringIds WHERE id = {text}"), name)

    def test_nothing_is_replaced_and_foreign_files_are_refused(self):
        self.assertEqual(publish("--to", self.copy, self.file).returncode, 0)
        again = publish("--to", self.copy, self.file)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists already", again.stderr)
        with open(self.at("text.db"), "w", encoding="utf-8") as file:
            file.write("no database" * 100)
        foreign = publish("--to", self.at("other.db"), self.at("text.db"))
        self.assertEqual(foreign.returncode, 1)
        self.assertIn("is no recording of swinscope", foreign.stderr)
        self.assertFalse(os.path.exists(self.at("other.db")))


if __name__ == "__main__":
    unittest.main()
