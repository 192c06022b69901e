/** The names of members, as a vocabulary reads them from a schema. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { JsonObject } from "../../../src/core/json.ts";
import { oneOf, open, optional, otherThan, toJson } from "../../../src/formats/shared/schema.ts";
import { lost, named, names, silent, Vocabulary } from "../../../src/formats/shared/vocabulary.ts";

const Text = open({ type: Type.Literal("text"), text: Type.String() });
const Other = open({ type: otherThan("text"), url: optional(Type.String()) });
const Part = named(oneOf("type", [Text, Other]), {
  read: "title",
  inner: { parts: "same", source: names({ read: "data", silent: { format: "it repeats the type" } }) },
  lost: "mood",
});
const Request = named(
  open({
    parts: Type.Array(Part),
    stream: silent("it changes only the framing", Type.Boolean()),
    labels: lost(open({ colour: Type.String() })),
    schema: optional(open({})),
  }),
  { silent: { prediction: "it makes the same answer come sooner" } },
);
const vocabulary = new Vocabulary(Request);

const leftOut = (body: JsonObject) =>
  [...vocabulary.leftOut(body, false)].map(({ loss, path }) => `${loss} ${path}`);

test("members of all alternatives are known, checked or not, at every depth", () => {
  const part = { type: "file", text: "t", url: "u", title: "t", source: { data: "d", format: "f" } };
  expect(leftOut({ parts: [part, { ...part, parts: [part] }] })).toEqual([]);
  expect(leftOut({ parts: [{ type: "text", page: 1, parts: [{ source: { page: 1 } }] }] })).toEqual([
    "unknown parts[0].page",
    "unknown parts[0].parts[0].source.page",
  ]);
});

test("marks say what becomes of a member; names inside an object without names are the client's", () => {
  const body = {
    parts: [{ mood: "glad" }],
    stream: true,
    prediction: { Colour: 1 },
    schema: { anything: 1 },
  };
  expect(leftOut({ ...body, labels: { colour: "red" } })).toEqual([
    "dropped parts[0].mood",
    "dropped labels",
  ]);
  expect([...vocabulary.silent()]).toEqual([
    { path: "stream", reason: "it changes only the framing" },
    { path: "prediction", reason: "it makes the same answer come sooner" },
    { path: "parts.source.format", reason: "it repeats the type" },
  ]);
});

test("a name that differs only in case is found, but not among names of the client", () => {
  expect(vocabulary.findMisspelled({ parts: [{ source: { Data: "d" } }] })).toEqual({
    path: ["parts", 0, "source", "Data"],
    known: "data",
  });
  expect(vocabulary.findMisspelled({ labels: { Colour: 1 }, prediction: { Stream: 1 } })).toBeUndefined();
});

test("names and marks change neither validation nor the published schema", () => {
  expect(Object.keys(toJson(Request)["properties"] as JsonObject)).toEqual([
    "parts",
    "stream",
    "labels",
    "schema",
  ]);
  expect(JSON.stringify(toJson(Request))).not.toContain("mood");
  expect(Value.Check(Request, { parts: [{ type: "text", text: "t", mood: 5 }], stream: null })).toBe(true);
  expect(Value.Check(Request, { parts: [{ type: "text", text: 5 }] })).toBe(false);
});
