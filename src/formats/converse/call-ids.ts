/**
 * Ids of calls of Kimi, which counts them: `functions.weather:0`. Other vendors refuse these characters, so clients get them
 * escaped (`functions_x2e_weather_x3a_0`), and Kimi gets its own ids back.
 */
import { type IdRule, ToolIds } from "../../core/ids.ts";

const ESCAPES: readonly (readonly [character: string, escape: string])[] = [
  [".", "_x2e_"],
  [":", "_x3a_"],
];

export function escapeId(id: string): string {
  return ESCAPES.reduce((left, [character, escape]) => left.replaceAll(character, escape), id);
}

function unescapeId(id: string): string {
  return ESCAPES.reduce((left, [character, escape]) => left.replaceAll(escape, character), id);
}

/** Maps the ids of a request to ids for the provider, escaped ones to what they were. */
class EscapedIds extends ToolIds {
  override call(id: string): string {
    return super.call(unescapeId(id));
  }

  override result(id: string): string | undefined {
    return super.result(unescapeId(id));
  }
}

/** The ids of a request for a model. @param escaped the ids of its answers were escaped */
export function toolIds(rule: IdRule, escaped: boolean): ToolIds {
  return escaped ? new EscapedIds(rule) : new ToolIds(rule);
}
