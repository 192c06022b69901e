/** The cost of a call, as a ledger: lines that add up on the screen. */
import { placeOf } from "../../data/call-facts.ts";
import { hrefOf } from "../../data/location.ts";
import type { AttemptMoney, CallEntry, CallMoney, MoneyLine } from "../../data/types.ts";
import type { Reading } from "../../data/use-api.ts";
import { whole } from "../../numbers/counts.ts";
import { dollars, exactDollars, lineOf, MISSING, perMillion, placesOf } from "../../numbers/money.ts";
import { Unpriced } from "../../parts/numbers.tsx";

type Attempt = CallEntry["attempts"][number];

const WORDS: Readonly<Record<string, string>> = {
  input: "fresh input",
  cacheRead: "cache read",
  cacheReadAudio: "audio from the cache",
  cacheWrite: "cache write, 5 min",
  cacheWrite1h: "cache write, 1 h",
  output: "output",
  reasoning: "reasoning",
  audioIn: "audio, in",
  imageIn: "images, in",
  audioOut: "audio, out",
  imageOut: "images, out",
  searches: "web searches",
  searched: "a request with searches",
  request: "the request",
  held: "held, and assumed to be spent",
  "unit:search": "searches of documents",
  "unit:image": "images",
  "unit:second": "seconds of audio",
  "unit:minute": "minutes of audio",
  "unit:character": "characters of speech",
};

const DOUBTS: Readonly<Record<string, string>> = {
  "cache-read":
    "the price of tokens that are read from a cache is not known; they were booked like fresh input",
  tier: "the price of the service tier is not known; the most that it can cost was booked",
  speed: "the price of the speed is not known; the most that it can cost was booked",
  search: "the price of the searches is not known; $0.05 was booked for each",
  unit: "the price of a unit besides tokens is not known; the units were booked without a price",
  model: "another model worked for the answer; the price of the asked one was booked",
};

const STATES: Readonly<Record<string, string>> = {
  reported: "The amount is the provider's own figure.",
  estimated: "The provider's counts are partial, so the amount is an estimate.",
  assumed: "The provider may charge and did not count: the most that the call can cost is booked.",
  unpriced: "What was counted has no price. This is not $0.",
};

/** A ledger for each attempt with a cost or tokens, then one total. */
export function CallLedger({ call, money }: { call: CallEntry; money: Reading<CallMoney> }) {
  const { attempts } = call;
  const booked = attempts.map((attempt, at) => ({ attempt, money: money.data?.attempts[at], at }));
  const shown = booked.filter(({ attempt }, at) => isBooked(attempt) || at === attempts.length - 1);
  if (shown.length === 0) return <p class="mid">Nothing was sent, nothing is booked.</p>;
  if (!attempts.some(isBooked) && attempts.every(({ charge }) => charge.state === "free"))
    return <p class="mid">Nothing was counted, and nothing is booked.</p>;
  const total = attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
  const several = shown.filter(({ attempt }) => isBooked(attempt)).length > 1;
  return (
    <div class="stack">
      {shown.map(({ attempt, money: lines, at }) => (
        <div key={at}>
          {several && <h3>{`try ${at + 1}: ${placeOf(attempt)}`}</h3>}
          <AttemptLedger attempt={attempt} money={lines} />
        </div>
      ))}
      {several && (
        <p>
          All tries together: <b title={exactDollars(total)}>{dollars(total)}</b>
        </p>
      )}
    </div>
  );
}

const isBooked = ({ charge, usage }: Attempt) =>
  charge.cost > 0 || usage.input + usage.output > 0 || usage.units !== undefined;

function AttemptLedger({ attempt, money }: { attempt: Attempt; money: AttemptMoney | undefined }) {
  const { charge } = attempt;
  const lines = money && money.lines.length > 0 ? money.lines : countsOf(attempt);
  const places = placesOf([charge.cost, ...lines.map(({ amount = 0 }) => amount)]);
  const tokens = lines.filter(({ what }) => !FEES.test(what)).reduce((sum, { count }) => sum + count, 0);
  const doubt = charge.state === "estimated" || charge.state === "assumed";
  return (
    <>
      <table class="ledger">
        <thead>
          <tr>
            <th scope="col">
              <span class="vh">Bucket</span>
            </th>
            <th scope="col">tokens</th>
            <th scope="col">$ a million</th>
            <th scope="col">amount</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ what, count, price, amount }) => (
            <tr key={what}>
              <td>{WORDS[what] ?? what}</td>
              <td class="num">{whole(count)}</td>
              <td class="num mid">{price === undefined ? "" : perMillion(price)}</td>
              <td class="num" {...(amount !== undefined && { title: exactDollars(amount) })}>
                {amount === undefined ? MISSING : lineOf(amount, places)}
              </td>
            </tr>
          ))}
          <tr class="sum">
            <td>charge, {charge.state}</td>
            <td class="num">{whole(tokens)}</td>
            <td />
            <td class="num money-end">
              {charge.state === "unpriced" ? (
                <Unpriced />
              ) : (
                <span class={doubt ? "unsure" : ""} title={exactDollars(charge.cost)}>
                  {doubt ? "~" : ""}
                  {lineOf(charge.cost, places)}
                </span>
              )}
            </td>
          </tr>
        </tbody>
      </table>
      <Terms attempt={attempt} money={money} />
    </>
  );
}

/** What is no token: searches, held, units, request. */
const FEES = /^([shu]|req)/;

/** Tokens by bucket, where the amounts are not known. */
function countsOf({ usage }: Attempt): MoneyLine[] {
  const { input, cacheRead, cacheWrite, cacheWrite1h = 0, output, searches = 0, units = {} } = usage;
  const lines = [
    { what: "input", count: input },
    { what: "cacheRead", count: cacheRead },
    { what: "cacheWrite", count: cacheWrite - cacheWrite1h },
    { what: "cacheWrite1h", count: cacheWrite1h },
    { what: "output", count: output },
    { what: "searches", count: searches },
    ...Object.entries(units).map(([unit, count]) => ({ what: `unit:${unit}`, count })),
  ];
  return lines.filter(({ count }) => count > 0);
}

/** By which rule, what was held, and where it is booked. */
function Terms({ attempt, money }: { attempt: Attempt; money: AttemptMoney | undefined }) {
  const { charge, held, provider, model } = attempt;
  const rule = money?.rule;
  const budgets = money?.budgets ?? [];
  const search = hrefOf("/prices", { q: `${provider}/${model}` });
  return (
    <p class="mid terms">
      {STATES[charge.state] !== undefined && `${STATES[charge.state]} `}
      {charge.state === "unpriced" && (
        <>
          <a class="fig" href={hrefOf("/prices", { missing: `${provider}/${model}` })}>
            Add three lines to the config
          </a>{" "}
          and history can be priced again.{" "}
        </>
      )}
      {charge.doubt !== undefined && `In doubt: ${DOUBTS[charge.doubt] ?? charge.doubt}. `}
      {rule && (
        <>
          Price: rule{" "}
          <a class="fig" href={search}>
            {rule.provider}/{rule.model}
          </a>{" "}
          of {rule.source === "config" ? "the config" : `the price book, ${rule.source}`}
          {rule.from !== undefined && `, valid from ${rule.from}`}.{" "}
        </>
      )}
      {held > 0 &&
        `Held ${dollars(held)} at admission, ${dollars(Math.max(0, held - charge.cost))} given back. `}
      {held > 0 && charge.cost > held && (
        <span class="c-bad">The charge is {dollars(charge.cost - held)} above what was held. </span>
      )}
      {budgets.length > 0 && (
        <>
          Booked in{" "}
          {budgets.map(({ id, name }, at) => (
            <span key={id}>
              {at > 0 && " and "}
              <a class="fig nowrap" href={hrefOf("/keys", { budget: id })}>
                {name}
              </a>
            </span>
          ))}
          .
        </>
      )}
    </p>
  );
}
