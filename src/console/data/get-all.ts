/** Lists of the admin API that a page needs as a whole. */
import { get } from "./api.ts";

/** Pages of 500 entries that are read at most. */
const MOST_PAGES = 20;

/**
 * Reads a list to its end. The entries of later pages are added to those of the first.
 *
 * @param to path below `/admin/v1`, with a query @throws ApiError
 */
export async function getAll<Answer>(to: string, options: { signal?: AbortSignal } = {}): Promise<Answer> {
  const whole = await get<Record<string, unknown>>(to, options);
  let next = whole["next"];
  for (let page = 1; typeof next === "string" && page < MOST_PAGES; page += 1) {
    const more = await get<Record<string, unknown>>(`${to}&after=${encodeURIComponent(next)}`, options);
    for (const [name, value] of Object.entries(more))
      if (Array.isArray(value)) whole[name] = [...(whole[name] as unknown[]), ...value];
    next = more["next"];
  }
  return { ...whole, next } as Answer;
}
