/** Options and columns of a plugin have the types of their schemas: the compiler refuses others. */
import { expect, test } from "bun:test";
import {
  defineColumn,
  defineCounter,
  defineHistogram,
  definePlugin,
  defineSection,
  Slot,
} from "../../src/plugin.ts";
import type { CallView } from "../../src/plugin.ts";

test("options have the types of their schema", () => {
  const section = defineSection({
    schema: {
      type: "object",
      properties: {
        most: { type: "integer", default: 5 },
        word: { type: "string" },
        mode: { enum: ["block", "mask"], default: "mask" },
        teams: { type: "array", items: { type: "string" }, default: [] },
        nested: {
          type: "object",
          properties: { isOn: { type: "boolean" } },
          required: ["isOn"],
          default: {},
        },
      },
    },
    configure({ most, word, mode, teams, nested, ...rest }) {
      const isOn: boolean = nested.isOn;
      const sum: number = most + teams.length;
      // @ts-expect-error a number is no text
      const text: string = most;
      // @ts-expect-error an option without a default may be absent
      const length: number = word?.length;
      // @ts-expect-error not one of the values
      const isOther = mode === "refuse";
      // @ts-expect-error no such option
      const unknown: unknown = rest.mosst;
      return [isOn, sum, text, length, isOther, unknown].length === 0 ? undefined : {};
    },
  });
  const options = { most: 5, mode: "mask", teams: [], nested: { isOn: true } };
  expect(section.configure(options)).toEqual({});
  // @ts-expect-error no type of JSON Schema
  defineSection({ schema: { type: "text" }, configure: () => ({}) });
});

test("notes have the type of their slot", () => {
  const words = new Slot<number>();
  const call = {} as CallView;
  words.set(call, 3);
  // @ts-expect-error a number is no text
  const text: string | undefined = words.get(call);
  expect(text as unknown).toBe(3);
  // @ts-expect-error a text is no number
  words.set(call, "3");
});

test("columns have the types of their schema", () => {
  const size = defineColumn({ name: "size", schema: { type: "integer" } });
  const team = defineColumn({ name: "team", schema: { type: "string", enum: ["red", "blue"] } });
  const set = (call: CallView) => {
    size.set(call, 3);
    team.set(call, "red");
    // @ts-expect-error a text is no number
    size.set(call, "3");
    // @ts-expect-error not one of the values
    team.set(call, "green");
    // @ts-expect-error a number is no text
    const text: string | undefined = size.get(call);
    return text;
  };
  // @ts-expect-error a column holds no object
  defineColumn({ name: "all", schema: { type: "object" } });
  // @ts-expect-error the record has been written in `done`
  definePlugin({ name: "late", columns: [size], hooks: { done: (record) => size.set(record, 1) } });
  expect(
    definePlugin({ name: "counts", columns: [size, team], hooks: { admit: (call) => void set(call) } }),
  ).toBeDefined();
});

test("metrics have the labels that they declare", () => {
  const refused = defineCounter({ name: "refused_total", help: "Refused calls.", labels: ["team", "why"] });
  const seconds = defineHistogram({ name: "seconds", help: "Duration.", buckets: [1, 10] });
  const count = () => {
    refused.add({ team: "red", why: "size" });
    // @ts-expect-error a label is missing
    refused.add({ team: "red" });
    // @ts-expect-error not a label of the metric
    refused.add({ team: "red", why: "size", model: "m" });
    // @ts-expect-error a counter has no values to observe
    refused.observe({ team: "red", why: "size" }, 3);
    // @ts-expect-error the metric has no labels
    seconds.observe({ team: "red" }, 3);
  };
  // No plugin lists them.
  expect(count).toThrow("the metric refused_total is not in metrics of a plugin that weir has loaded");
});
