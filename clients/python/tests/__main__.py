"""`python3 -m tests unit` or `python3 -m tests journeys`: runs the tests, and ends with one line: `python journeys: 30 passed, 0 failed`."""

import sys
import unittest
from pathlib import Path


def main() -> int:
    suites = [one for one in sys.argv[1:] if not one.startswith("-")] or ["unit", "journeys"]
    patterns = [one[2:] for one in sys.argv[1:] if one.startswith("-k")]
    folder = Path(__file__).parent
    loader = unittest.TestLoader()
    if patterns:
        loader.testNamePatterns = [f"*{one}*" for one in patterns]
    tests = unittest.TestSuite(loader.discover(str(folder / one), top_level_dir=str(folder.parent)) for one in suites)
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    # A test of which several parts fail has failed once, and what fails to start as well.
    failed = {str(getattr(test, "test_case", test)) for test, _ in [*result.failures, *result.errors]}
    not_run = [one for one in failed if one.startswith(("setUpClass", "tearDownClass", "setUpModule"))]
    passed = result.testsRun - len(result.skipped) - (len(failed) - len(not_run))
    for one in sorted(failed):
        print(f"failed: {one}")
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    print(f"python {' '.join(suites)}: {passed} passed, {len(failed)} failed{skipped}")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
