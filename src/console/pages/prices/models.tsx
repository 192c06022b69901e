/** What is known of the models that the config names and of those that were called, and which of them end soon. */
import type { KnownModel, listModelFacts, UsageReport } from "../../data/types.ts";
import { queryOf } from "../../data/api.ts";
import { type Reading, useApi } from "../../data/use-api.ts";
import { count } from "../../numbers/counts.ts";
import { MISSING, perMillion } from "../../numbers/money.ts";
import { Heads } from "../../parts/heads.tsx";
import { Note, Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";
import { targetsOf } from "./in-use.tsx";

/** More models than a question may name. */
const MOST = 100;

const HEADS = [
  ["Model"],
  ...[
    ["Context", "num"],
    ["Longest answer", "num w3"],
  ],
  ["Can", "w3"],
  ...[
    ["Input", "num w3"],
    ["Output", "num w3"],
  ],
  ["Last day", "num"],
] as const;

/** Abilities in few words; others are for programs. */
const WORDS: Readonly<Record<string, string>> = {
  tools: "tools",
  jsonSchema: "JSON schemas",
  reasoning: "reasoning",
  promptCaching: "prompt caching",
  webSearch: "web search",
};
const TAKEN: Readonly<Record<string, string>> = {
  image: "vision",
  audio: "audio",
  video: "video",
  file: "files",
};

export function ModelsPanel({ used }: { used: Reading<UsageReport> }) {
  const of = targetsOf(used.data).slice(0, MOST);
  const isAsked = used.data ?? used.error;
  const facts = useApi<typeof listModelFacts>(isAsked && `/model-facts${queryOf({ of })}`);
  return (
    <>
      {facts.data?.models.map(
        ({ id, ends }) =>
          ends !== undefined && (
            <Note key={id} state="warn">
              {ends}
            </Note>
          ),
      )}
      <Panel
        title="Models"
        right={<span class="dim">dollars a million tokens</span>}
        busy={facts.busy}
        foot={`What the providers' lists and weir's own say. ${MISSING} is not known, which is not “no”.`}
      >
        <Loaded of={facts} what="Models">
          {({ models }) =>
            models.length === 0 ? (
              <Blank title="No model was called in this time, and the config names none." />
            ) : (
              <div class="scroll">
                <table class="tbl wraps">
                  <Heads of={HEADS} />
                  <tbody>
                    {models.map((model) => (
                      <Row key={model.id} model={model} />
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

function Row({ model }: { model: KnownModel }) {
  const { id, places, contextWindow, maxOutput, takes = [], can = [], input, output, lastDay, ends } = model;
  const abilities = [
    ...takes.flatMap((kind) => TAKEN[kind] ?? []),
    ...can.flatMap((one) => WORDS[one] ?? []),
  ];
  return (
    <tr>
      <td class="anywhere">
        {id}
        {places.length > 0 && <div class="dim">{places.join(", ")}</div>}
      </td>
      <td class="num">{count(contextWindow)}</td>
      <td class="num w3">{count(maxOutput)}</td>
      <td class="w3">{abilities.join(", ") || <span class="dim">{MISSING}</span>}</td>
      <td class="num w3">{input === undefined ? MISSING : perMillion(input)}</td>
      <td class="num w3">{output === undefined ? MISSING : perMillion(output)}</td>
      <td class={`num nowrap ${ends === undefined ? "" : "c-warn"}`}>{lastDay ?? MISSING}</td>
    </tr>
  );
}
