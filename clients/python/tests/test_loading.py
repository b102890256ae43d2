# SPDX-License-Identifier: MIT
import sys
import unittest
from unittest import mock

from clusterd import _loading


class WithoutArrow(unittest.TestCase):
    def test_the_error_says_what_to_install(self):
        absent = {"pyarrow": None, "pyarrow.compute": None, "pyarrow.parquet": None}
        with mock.patch.dict(sys.modules, absent):
            sys.modules.pop("clusterd._arrow", None)
            for load in (_loading.parquet_batches, _loading.arrow_table):
                with self.assertRaisesRegex(ImportError, r"pip install 'clusterd\[arrow\]'"):
                    load("cities.parquet")


if __name__ == "__main__":
    unittest.main()
