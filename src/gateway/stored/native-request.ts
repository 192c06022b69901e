/** Changes the members of a native request that concern stored answers. */
import type { JsonObject } from "../../core/json.ts";
import { editMembers, scanBody } from "../../stream/scan.ts";
import type { NativeSource } from "../lanes/native-body.ts";
import { changedMembers } from "../lanes/native-body.ts";

/** As a source for further edits. `changed`: the top-level members that differ. */
export function sourceOf(
  body: JsonObject,
  client: NativeSource,
): NativeSource & { changed: readonly string[] } {
  const edits = changedMembers(client.body, body);
  const bytes = Buffer.concat(editMembers(client.bytes, edits, (name) => client.spanOf(name)));
  const { members } = scanBody(bytes, Infinity);
  return { body, bytes, spanOf: (name) => members.get(name), changed: [...edits.keys()] };
}
