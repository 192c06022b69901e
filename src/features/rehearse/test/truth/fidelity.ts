/** Whether an outline goes the way of its call: what the rehearsal finds for it, and what the gateway has done with the call. */
import { isObject, type Json, parseJson } from "../../../../core/json.ts";
import type { Facts } from "../../run/facts.ts";
import type { Seen } from "./observe.ts";

/** What differs between an outline and its call, each with both sides. */
export type Unfaithful = "refusal" | "target" | "url" | "headers" | "body" | "price" | "losses";

/** @returns what differs; a call that is refused on one side has nothing else */
export function unfaithful(facts: Facts, seen: Seen): Map<Unfaithful, [outline: string, call: string]> {
  const wrong = new Map<Unfaithful, [string, string]>();
  const compare = (name: Unfaithful, outline: string, call: string) => {
    if (outline !== call) wrong.set(name, [outline, call]);
  };
  const { kind = "", code = "" } = facts.refused ?? {};
  compare(
    "refusal",
    `${kind} ${code}`.trim(),
    seen.refusal
      .split(" ")
      .slice(0, code === "" ? 1 : 2)
      .join(" "),
  );
  const [sent] = seen.sent;
  if (wrong.size > 0 || !sent) return wrong;
  compare("url", (facts.url ?? "").replace(/^http:\/\//, ""), sent.url);
  compare(
    "headers",
    namesOf(Object.keys(facts.headers ?? {})),
    namesOf(sent.headers.map((line) => line.split(":")[0]!)),
  );
  compare("price", String(facts.price ?? 0), seen.price.split(" ")[0]!);
  compare(
    "losses",
    lossesOf((facts.losses ?? []).map(({ code, path }) => `${code}:${path}`)),
    lossesOf(seen.losses.split(" ")),
  );
  const whole = Buffer.from(sent.body, "latin1").toString();
  const place = firstOf(skeleton(parseJson(facts.body ?? "")), skeleton(parseJson(whole)), "");
  if (place !== undefined) wrong.set("body", place);
  return wrong;
}

/** Those that a connection adds are no facts. */
const CONNECTION = new Set(["user-agent", "accept-encoding", "connection", "content-length", "host"]);

const namesOf = (names: readonly string[]) =>
  names
    .map((name) => name.toLowerCase())
    .filter((name) => !CONNECTION.has(name))
    .sort()
    .join(" ");

/** Names of a client in the paths have other letters in an outline. */
const lossesOf = (losses: readonly string[]) =>
  losses
    .map((loss) => loss.split(/[.[:]/).slice(0, 2).join(":"))
    .sort()
    .join(" ");

/** The structure with numbers and words, and of each other string that it is one. Names of members may be the client's. */
function skeleton(value: Json | undefined): Json {
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return value.map(skeleton);
  if (!isObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, skeleton(one)]));
}

/** The first place at which two structures differ. Members are compared in their order, whatever their names are. */
function firstOf(one: Json, other: Json, path: string): [string, string] | undefined {
  if (isObject(one) && isObject(other)) {
    const [names, others] = [Object.keys(one), Object.keys(other)];
    if (names.length !== others.length)
      return [`${path}: ${names.join(" ")}`, `${path}: ${others.join(" ")}`];
    for (const [at, name] of names.entries()) {
      const found = firstOf(one[name]!, other[others[at]!]!, `${path}.${others[at]}`);
      if (found) return found;
    }
    return undefined;
  }
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    for (const [at, item] of one.entries()) {
      const found = firstOf(item, other[at] ?? null, `${path}[]`);
      if (found) return found;
    }
    return undefined;
  }
  if (typeof one === "number" && typeof other === "number") return undefined;
  const [written, wrote] = [one, other].map((value) => JSON.stringify(value).slice(0, 200));
  return written === wrote ? undefined : [`${path}: ${written}`, `${path}: ${wrote}`];
}
