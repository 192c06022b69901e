/** A search that no spelling of JSON escapes. */
import { expect, test } from "bun:test";
import { RequestBody } from "../../src/server/request-body.ts";
import { layoutOf } from "../../src/stream/outline/layout.ts";
import { mayHold, mayHoldName } from "../../src/stream/spelling.ts";
import { spell } from "../helpers/spellings.ts";
import { randomOf } from "../helpers/text-kinds.ts";

const MARK = "item_reference";

test("what JSON parses to a text is found in every spelling", () => {
  const random = randomOf(2);
  for (let round = 0; round < 500; round++) {
    const body = { input: [{ type: "message" }, { id: "x", type: MARK }], model: "m", n: 3 };
    const written = spell(body, random);
    expect([written, mayHold(Buffer.from(written), MARK)]).toEqual([written, true]);
  }
});

test("texts without it are passed over, also with escapes of other characters", () => {
  for (const text of ['{"a":"caf\\u00e9 \\u4e2d \\n \\u001b"}', '{"type":"item_referenc"}', "{}", "\\u00"])
    expect([text, mayHold(Buffer.from(text), MARK)]).toEqual([text, false]);
});

test("a body whose outline says that it has no escapes is searched no less", () => {
  const random = randomOf(3);
  for (let round = 0; round < 50; round++) {
    const body = { input: [{ id: "x".repeat(5_000), type: MARK }], model: "m" };
    for (const written of [spell(body, random), JSON.stringify(body).replace(MARK, "item\\u005freference")]) {
      const { bytes } = new RequestBody(Buffer.from(written), 100);
      expect([layoutOf(bytes) !== undefined, mayHold(bytes, MARK)]).toEqual([true, true]);
    }
  }
  const without = new RequestBody(
    Buffer.from(JSON.stringify({ model: "m", input: "x\n".repeat(5_000) })),
    100,
  );
  expect([layoutOf(without.bytes)?.hasEscapes, mayHold(without.bytes, MARK)]).toEqual([false, false]);
});

test("the name of a member is found in every spelling, and escapes of signs are passed over", () => {
  const random = randomOf(4);
  for (let round = 0; round < 500; round++) {
    const written = spell({ input: [{ type: "x", file_id: "y" }], model: "m", n: 3 }, random);
    expect([written, mayHoldName(Buffer.from(written), "file_id")]).toEqual([written, true]);
  }
  for (const text of ['{"a":"\\u003cb\\u003e \\u0026 \\u0027 caf\\u00e9"}', '{"file_i":"d"}', "{}"])
    expect([text, mayHoldName(Buffer.from(text), "file_id")]).toEqual([text, false]);
});
