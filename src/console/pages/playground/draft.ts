/** The content of the playground's form. Model, format and key are in the address; the texts stay while the page is open. */
import { signal } from "../../data/signal.ts";
import { bodyOf, type Body, formatNamed, type FormContent } from "../../data/request.ts";
import { readBody } from "./request.ts";

export interface Draft {
  system: string;
  prompt: string;
  limit: number;
  stream: boolean;
  /** A loss becomes an error. */
  strict: boolean;
  /** The body as a person edits it; undefined: the form makes it. */
  json?: string;
}

export const draft = signal<Draft>({
  system: "",
  prompt: "What is a weir?",
  limit: 400,
  stream: true,
  strict: false,
});

export function edit(change: Partial<Draft>): void {
  draft.value = { ...draft.value, ...change };
}

export function trialOf(
  { model = "", format }: Readonly<Record<string, string>>,
  { json: _edited, ...content }: Draft,
): FormContent {
  return { model, format: formatNamed(format), ...content };
}

/** The body that is sent. @returns one sentence if the edited text is no body */
export function bodyOfDraft(trial: FormContent, { json }: Draft): Body | string {
  return json === undefined ? bodyOf(trial) : readBody(json);
}
