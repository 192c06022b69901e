/** Which `traceparent` counts, by the rules of W3C Trace Context. */
import { expect, test } from "bun:test";
import { readTraceParent } from "../trace-context.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

const read = (traceparent: string, tracestate?: string) =>
  readTraceParent(new Headers({ traceparent, ...(tracestate !== undefined && { tracestate }) }));

test("a valid header names the trace, the client's span, and whether the client records it", () => {
  expect(read(`00-${TRACE}-${SPAN}-01`)).toEqual({ trace: TRACE, span: SPAN, sampled: true });
  expect(read(`00-${TRACE}-${SPAN}-00`)?.sampled).toBe(false);
  expect(read(`00-${TRACE}-${SPAN}-03`)?.sampled).toBe(true);
});

test("a later version may be longer, version 00 may not", () => {
  expect(read(`cc-${TRACE}-${SPAN}-01-what-the-future-adds`)?.trace).toBe(TRACE);
  expect(read(`00-${TRACE}-${SPAN}-01-more`)).toBeUndefined();
});

test("what is invalid counts as absent", () => {
  expect(readTraceParent(new Headers())).toBeUndefined();
  for (const text of [
    "",
    "text",
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}x-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `cc-${TRACE}-${SPAN}-01x`,
  ])
    expect([text, read(text)]).toEqual([text, undefined]);
});

test("tracestate is kept up to its maximum length, and only with a valid traceparent", () => {
  expect(read(`00-${TRACE}-${SPAN}-01`, "vendor=1,other=2")?.state).toBe("vendor=1,other=2");
  expect(read(`00-${TRACE}-${SPAN}-01`, "a".repeat(513))?.state).toBeUndefined();
  expect(readTraceParent(new Headers({ tracestate: "vendor=1" }))).toBeUndefined();
});
