/** The calls of one conversation: what each read from the cache and wrote to it, with the reason of each break. */
import type { CacheBreak, cacheSession, CacheSession } from "../../data/types.ts";
import { useState } from "preact/hooks";
import { hrefOf } from "../../data/location.ts";
import { useApi } from "../../data/use-api.ts";
import { count, counted, percent, whole } from "../../numbers/counts.ts";
import { dollars } from "../../numbers/money.ts";
import { Shape } from "../../parts/icons.tsx";
import { MoneyCell, Time } from "../../parts/numbers.tsx";
import { Loaded } from "../../parts/states.tsx";
import { CauseWords } from "./cause.tsx";
import { adviceOn, pauseOf, readShare, stretchesOf } from "./reasons.ts";

type SessionCall = CacheSession["calls"][number];

interface ConversationProps {
  /** Its hash. */
  id: string;
  /** The reason that cost most. */
  cause: Pick<CacheBreak, "reason" | "section"> | undefined;
}

export function Conversation({ id, cause }: ConversationProps) {
  const session = useApi<typeof cacheSession>(`/cache/sessions/${encodeURIComponent(id)}`);
  return (
    <Loaded of={session} what="The conversation" rows={3}>
      {(data) => (
        <>
          {cause && <p class="mid advice">{adviceOn(cause)}</p>}
          <Calls calls={data.calls} />
          <p class="dim">
            <a class="fig" href={hrefOf("/calls", { session: id, from: data.firstAt })}>
              {counted(data.count, "call")}
            </a>{" "}
            {data.count > data.calls.length && <>, the newest {whole(data.calls.length)} above,</>} from{" "}
            <Time at={data.firstAt} /> to <Time at={data.lastAt} />, <code>{id}</code>
          </p>
        </>
      )}
    </Loaded>
  );
}

function Calls({ calls }: { calls: readonly SessionCall[] }) {
  const [isWhole, setWhole] = useState(false);
  const longest = Math.max(1, ...calls.map(promptOf));
  const stretches = isWhole ? calls.map((call) => ({ call })) : stretchesOf(calls);
  return (
    <div class="scroll">
      <table class="tbl tight compact session-calls">
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col" class="wide">
              Prompt: <Key look="read">read</Key> <Key look="written">written</Key>{" "}
              <Key look="neither">neither</Key>
            </th>
            <th scope="col" class="num w3">
              Read
            </th>
            <th scope="col" class="num w3">
              Tokens
            </th>
            <th scope="col" class="w2">
              Served by
            </th>
            <th scope="col" class="num">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {stretches.map((stretch) =>
            "call" in stretch ? (
              <Row key={stretch.call.id} call={stretch.call} longest={longest} />
            ) : (
              <tr key={`fold ${stretch.folded[0]!.id}`}>
                <td colSpan={6}>
                  <button type="button" class="linkish fig dim" onClick={() => setWhole(true)}>
                    {counted(stretch.folded.length, "call")} without a break
                  </button>
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </div>
  );
}

const promptOf = ({ input, cacheRead, cacheWrite }: SessionCall): number => input + cacheRead + cacheWrite;

function Key({ look, children }: { look: string; children: string }) {
  return (
    <span class="mark">
      <svg class="prompt-bar" width="8" height="8" aria-hidden="true">
        <rect class={look} width="8" height="8" rx="1" />
      </svg>
      {children}
    </span>
  );
}

function Row({ call, longest }: { call: SessionCall; longest: number }) {
  const { id, startedAt, model, deployment, provider, cost } = call;
  const share = readShare(call);
  return (
    <>
      <tr class={call.break ? "broken" : ""}>
        <td>
          <a class="fig" href={hrefOf(`/calls/${id}`)} title={`Open the call: ${model}`}>
            <Time at={startedAt} />
          </a>
        </td>
        <td class="wide">
          <PromptBar call={call} longest={longest} />
        </td>
        <td class="num w3">{percent(share)}</td>
        <td class="num w3">{count(promptOf(call))}</td>
        <td class="w2 mid clip-cell">{deployment === "" ? provider : deployment}</td>
        <td class="num">
          <MoneyCell nano={cost} />
        </td>
      </tr>
      {call.break && (
        <tr class="why">
          <td />
          <td colSpan={5}>
            <BreakWords broken={call.break} />
          </td>
        </tr>
      )}
    </>
  );
}

function BreakWords({ broken }: { broken: CacheBreak }) {
  const pause = pauseOf(broken);
  return (
    <span class="mark c-warn wrap">
      <Shape state="warn" />
      <span>
        <CauseWords cause={broken} />
        {pause !== undefined && ` ${pause}`}: {counted(broken.tokens, "token")} read anew, for{" "}
        <b>{dollars(broken.cost)}</b> more.
      </span>
    </span>
  );
}

/** As long as the prompt, in three parts. */
function PromptBar({ call, longest }: { call: SessionCall; longest: number }) {
  const { input, cacheRead, cacheWrite } = call;
  const share = (tokens: number) => (tokens / longest) * 100;
  const parts = [
    ["read", cacheRead],
    ["written", cacheWrite],
    ["neither", input],
  ] as const;
  const label = `${whole(cacheRead)} tokens read from the cache, ${whole(cacheWrite)} written to it, ${whole(input)} neither`;
  let begin = 0;
  return (
    <svg class="prompt-bar" width="100%" height="8" role="img" aria-label={label}>
      <title>{label}</title>
      {parts.map(([look, tokens]) => {
        const x = begin;
        begin += share(tokens);
        return tokens === 0 ? null : (
          <rect class={look} key={look} x={`${x}%`} width={`${share(tokens)}%`} height="8" />
        );
      })}
    </svg>
  );
}
