/** Notes and columns: what a declaration gives to the record, the log and the facts of a call. */
import { Type } from "@sinclair/typebox";
import { expect, test } from "bun:test";
import { Call } from "../../src/core/call.ts";
import { type Column, column, Columns } from "../../src/core/column.ts";
import { Slot } from "../../src/core/slot.ts";

const tool = column({
  name: "tool",
  schema: Type.String(),
  log: { name: "tool_name", as: (value) => value.toUpperCase() },
  line: (value) => `tool ${value}`,
  fact: { label: "Tool", text: (value) => value, find: (value) => value },
});
const turns = column({ name: "turns", schema: Type.Integer(), store: "none" });
const path = column({ name: "place", schema: Type.String(), of: ({ format }) => `in ${format}` });

const newCall = () => new Call("req_1", "messages", new Headers());

function recordOf(columns: Columns, call: Call): object {
  const record = {};
  columns.addTo(record, call, []);
  return record;
}

test("a note is seen by its slot alone", () => {
  const call = newCall();
  const [one, other] = [new Slot<string>(), new Slot<number>()];
  expect(one.get(call)).toBeUndefined();
  one.set(call, "a");
  expect([one.get(call), other.get(call)]).toEqual(["a", undefined]);
});

test("slots and columns have the type of their values, and columns of different types are a list", () => {
  const list: readonly Column[] = [tool, turns];
  expect(list).toHaveLength(2);
  const call = newCall();
  // @ts-expect-error the schema is that of a text
  tool.set(call, 1);
  // @ts-expect-error a text is no number
  const wrong: number | undefined = turns.get(call) && tool.get(call);
  expect(wrong).toBeUndefined();
  // @ts-expect-error no such option
  column({ name: "x", schema: Type.String(), lable: "X" });
  // @ts-expect-error the value has no such member
  column({ name: "x", schema: Type.String(), line: ({ first }) => first });
});

test("the record has the values of a call, and those that the store does not get apart", () => {
  const columns = new Columns([tool, turns, path]);
  const call = newCall();
  expect(recordOf(columns, call)).toEqual({ place: "in messages" });
  tool.set(call, "search");
  turns.set(call, 3);
  const record = recordOf(columns, call);
  expect(record).toEqual({ place: "in messages", tool: "search", unstored: { turns: 3 } });
  expect([tool.in(record), turns.in(record), path.in(record)]).toEqual(["search", 3, "in messages"]);
});

test("a call without notes has no members but derived ones", () => {
  expect(recordOf(new Columns([tool, turns]), newCall())).toEqual({});
  expect(new Columns([tool]).logged(newCall())).toBeUndefined();
});

test("log, line and fact come from the declaration", () => {
  const columns = new Columns([tool, turns]);
  const call = newCall();
  tool.set(call, "search");
  turns.set(call, 3);
  expect(columns.logged(call)).toEqual({ tool_name: "SEARCH" });
  expect(columns.lines(call)).toEqual(["tool search"]);
  const record = recordOf(columns, call);
  expect(tool.fact(record)).toEqual({
    name: "tool",
    label: "Tool",
    text: "search",
    find: "search",
  });
  expect([turns.fact(record), tool.fact({})]).toEqual([undefined, undefined]);
});

test("two members of one name are refused", () => {
  expect(() => new Columns([tool, turns, tool])).toThrow("two members with the name tool");
  expect(() => new Columns([tool], ["tool"])).toThrow("two members with the name tool");
});
