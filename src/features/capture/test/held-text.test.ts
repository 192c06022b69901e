/** A text in pieces is masked as the whole text is, wherever it is cut, and ordinary words do not wait. */
import { describe, expect, test } from "bun:test";
import { createMask } from "../../../gateway/recording/mask.ts";
import { HeldText } from "../live/held-text.ts";

const OWN = [/[\w.]+@example\.com/g, /\d{3} \d{4}/g];

const TEXTS = [
  "The key is sk-proj-pastedpastedpasted0123456789 today, and more.",
  "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123' https://host/x",
  "export OPENAI_API_KEY=\"abcdef0123456789abc\"\nexport OTHER='x'",
  "postgres://weir:pa$$,wo{rd@db.internal/books is the store",
  "https://host/v1?key=abcdefgh12345678&other=1 and AKIAABCDEFGHIJKLMNOP.",
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----\nThat was it.",
  "a token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N ends",
  '{"command":"echo AIzaSyA1234567890abcdefghijklmnopqrstuv","path":"/a/b"}',
  "人工智能会改变世界。Une phrase sans secret, avec des accents éàü.",
  "mail jo.doe@example.com or call 555 1234 now",
  "",
];

function pieces(text: string, seed: number): string[] {
  const cut: string[] = [];
  let at = 0;
  for (let n = seed; at < text.length; n = (n * 1_103_515_245 + 12_345) % 2_147_483_648) {
    const length = 1 + (n % 9);
    cut.push(text.slice(at, at + length));
    at += length;
  }
  return cut;
}

describe.each([
  ["without expressions of the operator", []],
  ["with expressions of the operator", OWN],
])("%s", (_, patterns) => {
  const mask = createMask((text) => text.replaceAll("planted-Credential!of#provider", "***"), patterns);
  const texts = [...TEXTS, "it is planted-Credential!of#provider, yes"];

  test("the pieces together are the masked text, wherever it is cut", () => {
    for (const text of texts)
      for (let seed = 1; seed < 60; seed++) {
        const held = new HeldText(mask, patterns);
        const shown = pieces(text, seed).map((piece) => held.push(piece));
        expect(shown.join("") + held.end()).toBe(mask(text));
      }
  });

  test("nothing of a secret is shown before it is whole", () => {
    for (let at = 0; at < 36; at++) {
      const held = new HeldText(mask, patterns);
      const secret = "sk-proj-pastedpastedpasted0123456789";
      expect(held.push(`The key is ${secret.slice(0, at)}`)).not.toContain("sk-");
      expect(held.push(`${secret.slice(at)} `) + held.end()).not.toContain("pasted");
    }
  });
});

const plain = createMask((text) => text);

test("words are shown when the next one begins, and an ordinary last one when another part begins", () => {
  const held = new HeldText(plain, []);
  expect(held.push("Hello wor")).toBe("Hello ");
  expect(held.push("ld. And")).toBe("world. ");
  expect(held.pause()).toBe("And");
  expect(held.push(" sk-abc1")).toBe(" ");
  expect(held.pause()).toBe("");
  expect(held.end()).toBe("sk-abc1");
});

test("a word without an end does not wait for ever, and costs no time", () => {
  const held = new HeldText(plain, []);
  const begun = performance.now();
  let shown = "";
  for (let n = 0; n < 2_000; n++) shown += held.push("QUJD".repeat(8));
  shown += held.push(" and on.");
  expect(shown + held.end()).toBe("*** and on.");
  expect(performance.now() - begun).toBeLessThan(2_000);
});
