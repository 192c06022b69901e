/** Which headers pass between client and provider. */
import { expect, test } from "bun:test";
import { headerFilter } from "../../../src/gateway/lanes/header-filter.ts";

test("no list allows the client's trace, credentials or cookies, by name or by prefix", () => {
  const trace = { traceparent: "00-a-b-01", tracestate: "vendor=1", baggage: "user=7" };
  const others = { authorization: "Bearer x", cookie: "a=b" };
  const rest = { "x-forwarded-for": "192.0.2.1", "x-beta": "1", "trace-level": "2" };
  const headers = new Headers({ ...trace, ...others, ...rest });
  const names = [...Object.keys(trace), ...Object.keys(others), "trace*", "bag*", "x-*"];
  expect(headerFilter(names)(headers)).toEqual({ "x-beta": "1", "trace-level": "2" });
});
