import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeComponent, fillTemplate, placeholdersOf } from "../../src/core/template.ts";
import { withinBudget } from "../helpers/within-budget.ts";

test("any model name fills exactly one segment of a path, and the host reads the same name", () => {
  // Any UTF-16 code units, halves of surrogate pairs among them.
  const name = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units))
    .filter((text) => text !== "." && text !== "..");
  withinBudget(
    fc.property(name, (model) => {
      const url = new URL(`https://a.example${fillTemplate("/model/{model}/converse", { model })}`);
      expect([url.host, url.search, url.hash]).toEqual(["a.example", "", ""]);
      const segments = url.pathname.split("/");
      expect(segments.length).toBe(4);
      expect(decodeURIComponent(segments[2]!)).toBe(model.toWellFormed());
    }),
  );
});

test("only the unreserved characters of RFC 3986 stay as they are", () => {
  const all = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join("");
  const kept = all.replace(/[^A-Za-z0-9._~-]/g, "");
  expect(encodeComponent(all).replace(/%[0-9A-F]{2}/g, "")).toBe(kept);
  expect(encodeComponent("us.anthropic.claude-x-v1:0")).toBe("us.anthropic.claude-x-v1%3A0");
  expect(encodeComponent("arn:aws:x/y")).toBe("arn%3Aaws%3Ax%2Fy");
});

test("values with braces are not filled again, and unknown placeholders stay", () => {
  expect(fillTemplate("/{model}/{region}/{other}", { model: "{region}", region: "eu" })).toBe(
    "/%7Bregion%7D/eu/{other}",
  );
  expect(placeholdersOf("/a/{model}:go?v={version}")).toEqual(["model", "version"]);
});
