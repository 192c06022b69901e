import { describe, expect, test } from "bun:test";
import { PriceBook, withRef } from "../../../src/ledger/prices/book.ts";
import { Snapshot } from "../../../src/ledger/prices/snapshot.ts";

const SNAPSHOT = new Snapshot(
  [
    { source: "litellm", version: "1", licence: "MIT", date: "2026-11-01", sameAs: { sister: "acme" } },
    { provider: "acme", model: "large", input: 2_000_000, output: 8_000_000, maxOutput: 4096, window: 100 },
    { provider: "acme", model: "large-2025-01-02", input: 3_000_000, output: 9_000_000 },
    { provider: "acme", model: "us.large", input: 2_200_000, output: 8_800_000 },
    { provider: "acme", model: "latest", as: "large" },
    { provider: "other", model: "*", input: 1, output: 1 },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join(""),
);
const bookOf = (settings: ConstructorParameters<typeof PriceBook>[0] = {}) =>
  new PriceBook(settings, () => SNAPSHOT);

describe("which price", () => {
  test("an exact name in the config is before a pattern, a pattern before the price book", () => {
    const book = bookOf({
      "acme/*": { input: 5, output: 6 },
      "acme/large": { input: 7, output: 8 },
      "acme/la*": { input: 9, output: 9 },
    });
    expect(book.lookup("acme", "large")).toMatchObject({
      input: 7_000_000,
      output: 8_000_000,
      source: "config",
    });
    expect(book.lookup("acme", "latest")?.input).toBe(9_000_000);
    expect(book.lookup("acme", "small")?.input).toBe(5_000_000);
    expect(bookOf().lookup("acme", "large")).toMatchObject({
      input: 2_000_000,
      source: "litellm 2026-11-01",
    });
  });

  test("a name matches exactly, without its date, or as an alias, and never by a part of it", () => {
    const book = bookOf();
    expect(book.lookup("acme", "large-20260909")?.model).toBe("large");
    expect(book.lookup("acme", "large@20260909")?.model).toBe("large");
    expect(book.lookup("acme", "large-2025-01-02")?.input).toBe(3_000_000);
    expect(book.lookup("acme", "latest")?.model).toBe("large");
    for (const model of ["larg", "large-mini", "my-large", "large:free", "LARGE", 'large","x":"', ""])
      expect(book.lookup("acme", model)).toBeUndefined();
    expect(book.lookup("unknown", "large")).toBeUndefined();
  });

  test("a name with the prefix of a region has a price of its own", () => {
    expect(bookOf().lookup("acme", "us.large")?.input).toBe(2_200_000);
    expect(bookOf().lookup("acme", "eu.large")).toBeUndefined();
  });

  test("a provider that is another door to the same models has their prices", () => {
    expect(bookOf().lookup("sister", "large")?.input).toBe(2_000_000);
  });

  test("a configured price keeps the model's limits, and drops what the price book adds to its own prices", () => {
    const rule = bookOf({ "acme/*": { input: 10, output: 0 } }).lookup("acme", "large");
    expect(rule).toMatchObject({ maxOutput: 4096, window: 100, output: 0 });
    expect(rule).not.toHaveProperty("cacheRead");
  });

  test("a discount takes a fraction off each shipped price, and makes none where there is none", () => {
    const book = bookOf({ "acme/*": { discount: 0.12 } });
    expect(book.lookup("acme", "large")).toMatchObject({
      input: 1_760_000,
      output: 7_040_000,
      source: "config",
    });
    expect(book.lookup("acme", "small")).toBeUndefined();
  });

  test("0 in the config is a price of zero", () => {
    expect(bookOf({ "acme/*": 0 }).lookup("acme", "small")).toMatchObject({ input: 0, output: 0 });
  });

  test("the same target gives the same object, and a rule's reference depends on its content alone", () => {
    const book = bookOf();
    expect(book.lookup("acme", "large")).toBe(book.lookup("acme", "large"));
    expect(book.lookup("acme", "large")?.ref).toMatch(/^[0-9a-f]{12}$/);
    expect(bookOf().lookup("acme", "large")?.ref).toBe(book.lookup("acme", "large")!.ref);
    const one = withRef({ provider: "a", model: "b", input: 1, output: 2, source: "config" });
    const turned = withRef({
      source: "config",
      output: 2,
      input: 1,
      model: "b",
      provider: "a",
      window: undefined,
    });
    expect(turned.ref).toBe(one.ref);
    expect(withRef({ provider: "a", model: "b", input: 1, output: 3, source: "config" }).ref).not.toBe(
      one.ref,
    );
  });
});

describe("the shipped price book", () => {
  test("M18: prices the mock under every name of its models, and says that the price is of weir", () => {
    const book = new PriceBook();
    for (const model of ["chat", "long-20000", "anything"])
      expect(book.lookup("mock", model)).toMatchObject({
        ...{ input: 1_000_000, output: 2_000_000, source: "weir" },
      });
  });

  test("has no price for models on the operator's own machines", () => {
    const book = new PriceBook();
    for (const provider of ["ollama", "vllm", "llamacpp", "lmstudio", "sglang", "tgi"])
      expect(book.lookup(provider, "gpt-5")).toBeUndefined();
  });
});
