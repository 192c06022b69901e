/** An answer of the admin API to a question that has a body, in a component: what-if, explain. */
import { send } from "./api.ts";
import { type Reading, useReading } from "./use-api.ts";

/**
 * Asks again when the body changes. What is there stays until the new answer.
 * @param to path below `/admin/v1`
 * @param body undefined: nothing is asked
 * @param options.wait milliseconds without a change before it is asked: for what a person types
 */
export function usePost<Answer>(to: string, body: unknown, options: { wait?: number } = {}): Reading<Answer> {
  const question = body === undefined ? undefined : `${to} ${JSON.stringify(body)}`;
  const reading = useReading<Answer>(question, { ...options, read: ask });
  return question === undefined
    ? { ...reading, data: undefined, error: undefined, busy: false, slow: false }
    : reading;
}

/** @param question path and body, with a space between */
function ask<Answer>(question: string, options: { signal?: AbortSignal }): Promise<Answer> {
  const at = question.indexOf(" ");
  const body: unknown = JSON.parse(question.slice(at));
  return send<Answer>("POST", question.slice(0, at), { ...options, body });
}
