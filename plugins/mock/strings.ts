/** Generates texts within the bounds of a JSON schema. */
import type { JsonObject } from "weir";
import { samplePattern } from "./pattern.ts";
import { makeUuid } from "./seed.ts";

const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-15T12:00:00Z",
  date: "2026-01-15",
  time: "12:00:00Z",
  duration: "PT1H",
  email: "mock@example.com",
  "idn-email": "mock@example.com",
  hostname: "mock.example.com",
  "idn-hostname": "mock.example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/mock",
  url: "https://example.com/mock",
  iri: "https://example.com/mock",
  "uri-reference": "/mock",
  "iri-reference": "/mock",
  "uri-template": "/mock/{id}",
  "json-pointer": "/mock",
  "relative-json-pointer": "0/mock",
  regex: "^mock$",
  byte: "bW9jaw==",
};

const MAX_LENGTH = 10_000;

/** @param name the text if the schema does not constrain it */
export function makeString(schema: JsonObject, name: string, seed: string): string {
  const least = typeof schema.minLength === "number" ? Math.min(schema.minLength, MAX_LENGTH) : 0;
  const most = typeof schema.maxLength === "number" ? schema.maxLength : MAX_LENGTH;
  if (schema.format === "uuid") return makeUuid(seed);
  if (typeof schema.format === "string" && Object.hasOwn(FORMATS, schema.format))
    return FORMATS[schema.format]!;
  const sampled = typeof schema.pattern === "string" ? samplePattern(schema.pattern, least, most) : undefined;
  return sampled ?? fitLength(name, least, most);
}

/** JSON schema counts characters, not UTF-16 units. */
function fitLength(text: string, least: number, most: number): string {
  const letters = [...text];
  while (letters.length < least) letters.push(" ", ...text);
  return letters.slice(0, Math.max(least, Math.min(letters.length, most))).join("");
}
