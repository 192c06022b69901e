/** Operations of features: their place in the document, and the ids and paths that have an owner already. */
import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { type AdminRequest, answers, type NamedOperations } from "../../src/admin/operation.ts";
import { withOwn, withOwnNotes } from "../../src/admin/own-operations.ts";
import { contract } from "../../src/operator/contract.ts";

const operation = (id: string, path: string) => {
  const answer = { name: "Any", schema: Type.Any() };
  return answers(
    contract({ method: "GET", path, id, summary: "", needs: { role: "read", on: "path" }, answer }),
    () => ({
      json: 1,
    }),
  );
};
const CORE = [operation("one", "/one"), operation("two", "/two/{id}"), operation("three", "/three")];
const of = (feature: string, after: readonly string[], ...operations: NamedOperations["operations"]) => ({
  ...{ feature, after, operations },
});

test("operations of a feature follow the first that they name and weir has, in their order", () => {
  const own = [of("a", ["four", "two", "one"], operation("x", "/x"), operation("y", "/y"))];
  expect(withOwn(CORE, own).map(({ id }) => id)).toEqual(["one", "two", "x", "y", "three"]);
});

test.each([
  [
    [of("a", ["one"], operation("two", "/x"))],
    "the feature a declares the operation two, which another one has",
  ],
  [
    [of("a", ["one"], operation("x", "/two/{name}"))],
    "the feature a declares the path GET /two/{name}, which another operation has",
  ],
  [
    [of("a", ["one"], operation("x", "/x")), of("b", ["one"], operation("x", "/y"))],
    "the feature b declares the operation x, which another one has",
  ],
  [[of("a", ["one"], operation("x", "/x"), operation("y", "/x"))], "declares the path GET /x"],
  [
    [of("a", ["four", "five"], operation("x", "/x"))],
    "the feature a has operations behind four or five, which weir does not have",
  ],
])("two owners and an operation behind none are refused: %#", (own, sentence) => {
  expect(() => withOwn(CORE, own)).toThrow(sentence);
});

test("features add links to notes and notes of their own, and the worst stay first", async () => {
  const note = { kind: "deployment", level: "warn", text: "a is left alone.", subject: "a" } as const;
  const core = [
    { ...operation("overview", "/overview"), handle: () => ({ json: { at: 1, notes: [note] } }) },
  ];
  const acts = [{ words: "Its alert", at: "/x" }];
  const own: NamedOperations[] = [
    { ...of("a", ["overview"]), notes: async (_, notes) => notes.map((one) => ({ ...one, acts })) },
    { ...of("b", ["overview"]) },
    {
      ...of("c", ["overview"]),
      notes: async (_, notes) => [...notes, { kind: "store", level: "bad", text: "Worse." }],
    },
  ];
  const [overview] = withOwnNotes(core, own);
  expect(await overview!.handle({} as AdminRequest)).toEqual({
    json: {
      at: 1,
      notes: [
        { kind: "store", level: "bad", text: "Worse." },
        { ...note, acts },
      ],
    },
  });
});
