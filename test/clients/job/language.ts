/** What the formats of the job's provider share. */
import { isObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import type { Answer } from "../../helpers/upstream.ts";

/** A tool as the request declares it. */
export interface Declared {
  name: string;
  kind: "function" | "custom";
  properties: JsonObject;
}

/** What the provider reads of a request, whatever its format. */
export interface Asked {
  tools: Declared[];
  /** The results of calls, in order, as text. */
  results: string[];
  /** Reasoning of earlier turns, in order: what seals each. */
  reasoning: string[];
  stream: boolean;
  /** The model that the request asks for: Claude Code forgets reasoning of answers that name another one. */
  model?: string;
}

export interface Call {
  id: string;
  name: string;
  kind: "function" | "custom";
  /** Of a tool of responses that is in one. */
  namespace?: string;
  /** Arguments as JSON, or the input of a custom tool. */
  input: string;
}

export interface Turn {
  /** Number of the turn, from 0. */
  number: number;
  reasoning: string;
  text?: string;
  calls: Call[];
  model?: string;
}

/** A format that the provider speaks. */
export interface Language {
  /** @param path of the request @throws Error for a request that the vendor refuses */
  read(body: JsonObject, path: string): Asked;
  write(turn: Turn, stream: boolean): Answer;
}

/** What the model thinks in each turn. */
export const REASONING = [
  "I read both files first.",
  "The sign is wrong.",
  "Now the test.",
  "All is well.",
] as const;

/** What seals the reasoning of a turn: only this provider can read it. */
export const sealOf = (turn: number) => Buffer.from(`sealed reasoning of turn ${turn}`).toString("base64");

export const list = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
export const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Text, or the texts of parts. */
export const textOf = (value: Json | undefined): string =>
  typeof value === "string"
    ? value
    : list(value)
        .map(({ text }) => (typeof text === "string" ? text : ""))
        .join("\n");

export const declared = (name: Json | undefined, kind: Declared["kind"], schema?: Json): Declared => ({
  name: String(name),
  kind,
  properties: object(object(schema)["properties"]),
});

/** Four characters at a time. */
export const inPieces = (text: string): string[] => text.match(/[^]{1,4}/g) ?? [];
