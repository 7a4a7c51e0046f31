"""Reports as common tools write them: of one case that passed and one that was skipped, where the
tool writes that, and the same with what the tool writes for a failure.
"""

from typing import NamedTuple


class Tool(NamedTuple):
    """What one tool writes."""

    passing: str
    """``FAILURES`` stands for the number of failures, ``CASE`` for what is in the case."""
    failure: str
    """What is in a case that failed."""

    def report(self, *, fails: bool) -> bytes:
        inside = self.failure if fails else ""
        text = self.passing.replace("FAILURES", str(int(fails))).replace("CASE", inside)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{text}'.encode()


REPORTS = {
    "pytest": Tool(
        '<testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="FAILURES" '
        'skipped="1" tests="2" time="0.021" timestamp="2026-05-28T14:00:00.1+00:00" hostname="h">'
        '<testcase classname="test_cart" name="test_adds" time="0.001">CASE</testcase>'
        '<testcase classname="test_cart" name="test_later" time="0.000">'
        '<skipped type="pytest.skip" message="later">test_cart.py:7: later</skipped></testcase>'
        "</testsuite></testsuites>",
        '<failure message="assert 1 == 2">def test_adds(): ...</failure>',
    ),
    "surefire": Tool(
        '<testsuite xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:noNamespaceSchemaLocation="https://maven.apache.org/surefire.xsd" version="3.0.2" '
        'name="shop.CartTest" time="0.03" tests="3" errors="0" skipped="1" failures="FAILURES" '
        'flakes="1"><properties><property name="java.version" value="21"/></properties>'
        '<testcase name="adds" classname="shop.CartTest" time="0.002">CASE</testcase>'
        '<testcase name="pays" classname="shop.CartTest" time="0.002">'
        '<flakyFailure message="late" type="java.lang.AssertionError"><stackTrace/>'
        "</flakyFailure></testcase>"
        '<testcase name="later" classname="shop.CartTest" time="0"><skipped message="x"/>'
        "</testcase></testsuite>",
        '<failure message="expected 1" type="org.opentest4j.AssertionFailedError">at …</failure>'
        "<system-out>hello</system-out>",
    ),
    "Jest": Tool(
        '<testsuites name="jest tests" tests="1" failures="FAILURES" errors="0" time="0.6">'
        '<testsuite name="cart" errors="0" failures="FAILURES" skipped="0" '
        'timestamp="2026-05-28T14:00:00" time="0.4" tests="1">'
        '<testcase classname="cart adds" name="cart adds" time="0.003">CASE</testcase>'
        "</testsuite></testsuites>",
        "<failure>Error: expect(received).toBe(expected)</failure>",
    ),
    "gotestsum": Tool(
        '<testsuites tests="2" failures="FAILURES" errors="0" time="0.004">'
        '<testsuite tests="2" failures="FAILURES" time="0.004" name="shop/cart" '
        'timestamp="2026-05-28T14:00:00Z"><properties><property name="go.version" '
        'value="go1.24 linux/amd64"/></properties>'
        '<testcase classname="shop/cart" name="TestAdds" time="0.000">CASE</testcase>'
        '<testcase classname="shop/cart" name="TestLater" time="0.000">'
        '<skipped message="later"/></testcase></testsuite></testsuites>',
        '<failure message="Failed" type="">    cart_test.go:9: no</failure>',
    ),
    "cargo-nextest": Tool(
        '<testsuites name="nextest-run" tests="2" failures="FAILURES" errors="0" '
        'uuid="5e0c6bd2-6a2f-4e2b-8f0e-7b7f9b1f8d11" timestamp="2026-05-28T14:00:00.1+00:00" '
        'time="0.01"><testsuite name="shop" tests="2" disabled="0" errors="0" '
        'failures="FAILURES"><testcase name="cart::adds" classname="shop" '
        'timestamp="2026-05-28T14:00:00.1+00:00" time="0.005">CASE</testcase>'
        '<testcase name="cart::pays" classname="shop" timestamp="2026-05-28T14:00:00.1+00:00" '
        'time="0.005"><flakyFailure timestamp="2026-05-28T14:00:00.1+00:00" time="0.004" '
        'message="late" type="test failure"><system-out>1</system-out></flakyFailure></testcase>'
        "</testsuite></testsuites>",
        '<failure message="panicked" type="test failure with exit code 101">…</failure>'
        '<rerunFailure timestamp="2026-05-28T14:00:00.1+00:00" time="0.004" type="test failure"/>',
    ),
    "Deno": Tool(
        '<testsuites name="deno test" tests="2" failures="FAILURES" errors="0" time="0.01">'
        '<testsuite name="./cart_test.ts" tests="2" disabled="1" errors="0" '
        'failures="FAILURES"><testcase name="adds" classname="./cart_test.ts" time="0.001" '
        'line="3" col="6">CASE</testcase><testcase name="later" classname="./cart_test.ts" '
        'time="0" line="7" col="6"><skipped/></testcase></testsuite></testsuites>',
        '<failure message="Uncaught AssertionError: no">AssertionError: no</failure>',
    ),
    "nose": Tool(
        '<testsuite name="nosetests" tests="2" errors="0" failures="FAILURES" skip="1">'
        '<testcase classname="test_cart" name="test_adds" time="0.001">CASE</testcase>'
        '<testcase classname="test_cart" name="test_later" time="0.001">'
        '<skipped type="unittest.case.SkipTest" message="later"/></testcase></testsuite>',
        '<failure type="exceptions.AssertionError" message="no"/>',
    ),
    "PHPUnit": Tool(
        '<testsuites><testsuite name="unit" tests="3" assertions="1" errors="0" warnings="1" '
        'failures="FAILURES" skipped="1" time="0.01"><testsuite name="CartTest" '
        'file="/app/CartTest.php" tests="3" assertions="1" errors="0" warnings="1" '
        'failures="FAILURES" skipped="1" time="0.01"><testcase name="testAdds" class="CartTest" '
        'classname="CartTest" file="/app/CartTest.php" line="9" assertions="1" time="0.001">'
        'CASE</testcase><testcase name="testLater" class="CartTest" classname="CartTest" '
        'file="/app/CartTest.php" line="12" assertions="0" time="0"><skipped/></testcase>'
        '<testcase name="Warning" class="PHPUnit\\Framework\\WarningTestCase" assertions="0" '
        'time="0"><warning type="PHPUnit\\Framework\\Warning">No tests found.</warning>'
        "</testcase></testsuite></testsuite></testsuites>",
        '<failure type="PHPUnit\\Framework\\ExpectationFailedException">no</failure>',
    ),
    ".NET": Tool(
        '<testsuites><testsuite name="Shop.Tests.dll" tests="2" skipped="1" '
        'failures="FAILURES" errors="0" time="0.1" timestamp="2026-05-28T14:00:00" hostname="h" '
        'id="0" package="Shop.Tests.dll"><properties/>'
        '<testcase classname="Shop.CartTests" name="Adds" time="0.001">CASE</testcase>'
        '<testcase classname="Shop.CartTests" name="Later" time="0"><skipped/></testcase>'
        "<system-out>Junit Logger does not log standard output</system-out><system-err/>"
        "</testsuite></testsuites>",
        '<failure type="failure" message="Assert.Equal() Failure">at …</failure>',
    ),
    "Bazel": Tool(
        '<testsuites><testsuite name="cart_test" tests="1" failures="0" errors="FAILURES">'
        '<testcase name="cart_test" status="run" duration="1" time="1">CASE</testcase>'
        "<system-out>…</system-out></testsuite></testsuites>",
        '<error message="exited with error code 1"></error>',
    ),
}
