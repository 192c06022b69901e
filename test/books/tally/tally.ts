/**
 * An independent tally: the provider's own bill, against the books of weir. Calls of all client languages, endings and lanes, with
 * texts of all kinds, on keys whose hard budgets suffice and on keys whose hard budgets do not; processes are killed meanwhile.
 */
import type { CallEntry } from "../../../src/operator/calls.ts";
import { listAll } from "../../../src/cli/books/api.ts";
import { until } from "../../helpers/serving.ts";
import { type RunningBooks, startBooks } from "../running.ts";
import { servingWorker } from "../stress.ts";
import { call, type Outcome, type Result } from "./clients.ts";
import { exchangeOf, fallbackOf, type Host, HOSTS } from "./exchange.ts";
import { type Bill, PRICES, programPlugin, startProvider, type TallyProvider } from "./provider.ts";

export interface TallyOptions {
  /** Calls that are compared to the nano-dollar: those that are answered, or refused by the provider. */
  calls: number;
  /** Calls at the same time. */
  parallel: number;
  workers: number;
  /** How often each is killed: one worker, the keeper, all processes. */
  kills: { worker: number; keeper: number; all: number };
}

/** What was found; all lists are empty where the books are right. */
export interface TallyReport {
  results: Partial<Record<Result, number>>;
  /** Calls that were compared to the nano-dollar, and their sums. */
  exact: { calls: number; billed: number; booked: number };
  /** How many of them asked each host. */
  hosts: Partial<Record<Host, number>>;
  /** Streams that did not reach their end: what was produced, and what was booked. */
  partial: { calls: number; billed: number; booked: number };
  kills: number;
  wrong: {
    /** Whole answers whose row is absent, double, or has another cost. */
    rows: string[];
    /** Calls of a key whose budget suffices that were refused for good. */
    refusals: string[];
    /** Refusals that name more than the call needs. */
    sentences: string[];
    /** Hard budgets that were exceeded, by the books or by the provider's bill. */
    over: string[];
    /** Budgets that have not counted what their calls were charged. */
    sums: string[];
    /** Money that is neither spent nor assumed, and yet refused. */
    unused: string[];
    /** What the gateway answered besides. */
    other: string[];
  };
  /** The last lines of `weir audit`. */
  audit: { code: number; output: string };
}

const KEYS = 8;
/** About what a call costs on average, and what one may hold. Dollars. */
const MEAN = 0.0023;

interface Key {
  name: string;
  secret: string;
  /** Its budget suffices for all its calls. */
  isAmple: boolean;
  limit: number;
}

const modelOf = (host: Host, isDead: boolean) => `tally-${host}${isDead ? "-dead" : ""}`;

function configOf({ url }: TallyProvider) {
  const bases: Record<(typeof HOSTS)[number], string> = {
    chat: `${url}/v1`,
    responses: `${url}/v1`,
    messages: url,
    gemini: url,
  };
  const host = (name: (typeof HOSTS)[number]) => [
    `h${name}`,
    {
      baseUrl: bases[name],
      apiKey: "sk-tally",
      speaks: name === "chat" ? "chat-completions" : name,
      models: ["m", "dead-model"],
    },
  ];
  const aliases = HOSTS.flatMap((name) => [
    [modelOf(name, false), `h${name}/m`],
    [modelOf(name, true), `h${name}/dead-model`],
  ]);
  const hembeds = { baseUrl: `${url}/v1`, embeds: { embeddings: { path: "/embeddings" } }, models: ["m"] };
  return {
    providers: { ...Object.fromEntries(HOSTS.map(host)), hembeds },
    prices: Object.fromEntries(Object.entries(PRICES).map(([name, price]) => [`h${name}/*`, price])),
    aliases: {
      ...Object.fromEntries(aliases),
      [modelOf("program", false)]: "hprogram/m",
      [modelOf("embeds", false)]: "hembeds/m",
    },
    fallbacks: Object.fromEntries(HOSTS.map((name) => [`h${name}/dead-model`, [`h${fallbackOf(name)}/m`]])),
  };
}

export async function tally({ calls, parallel, workers, kills }: TallyOptions): Promise<TallyReport> {
  const provider = startProvider();
  const plugins = { "hprogram.ts": programPlugin(provider.url) };
  const options = { workers, config: configOf(provider), plugins };
  const ended: RunningBooks[] = [];
  let weir = await startBooks(options);
  try {
    const keys = await makeKeys(weir, calls);
    const outcomes: Outcome[] = [];
    const keyOf = (number: number) => keys[number % KEYS]!;
    let next = 0;
    let compared = 0;
    // A gateway that answers nothing ends the tally, too.
    const isOver = () => compared >= calls || next >= 10 * calls;
    let isBack: Promise<unknown> = Promise.resolve();
    const loop = async () => {
      while (!isOver()) {
        const exchange = exchangeOf(next++);
        await isBack;
        const model = modelOf(exchange.asked, exchange.ending === "fallback");
        const outcome = await call(weir.url, keyOf(exchange.number).secret, model, exchange);
        outcomes.push(outcome);
        if (isCompared(outcome)) compared++;
        if (outcome.result === "lost") await Bun.sleep(20);
      }
    };
    const restart = async () => {
      weir.signalGroup("SIGKILL");
      await weir.exited;
      ended.push(weir);
      weir = await startBooks({ ...options, state: weir.state });
    };
    const loops = Promise.all(Array.from({ length: parallel }, loop));
    let killed = 0;
    const plan = [
      ...Array.from({ length: kills.worker }, () => "worker"),
      ...Array.from({ length: kills.keeper }, () => "keeper"),
      ...Array.from({ length: kills.all }, () => "all"),
    ];
    // One kind after the other, at equal distances.
    for (const [at, what] of plan.entries()) {
      const due = ((at + 1) / (plan.length + 1)) * calls;
      await until(() => compared >= due || isOver(), 600_000);
      const areUp = () => weir.workers().length === workers && weir.keeper() !== undefined;
      await until(areUp, 60_000);
      killed++;
      if (what === "all") await (isBack = restart());
      else {
        const pid = what === "keeper" ? weir.keeper() : servingWorker(weir)();
        if (pid !== undefined) process.kill(pid, "SIGKILL");
      }
    }
    await loops;
    await until(() => weir.workers().length === workers && weir.keeper() !== undefined, 60_000);
    return await compare({ weir, provider, keys, outcomes, killed, hasKills: plan.length > 0, next });
  } finally {
    await weir.end();
    for (const other of ended) await other.end();
    provider.stop();
  }
}

async function makeKeys(weir: RunningBooks, calls: number): Promise<Key[]> {
  const keys: Key[] = [];
  for (let at = 0; at < KEYS; at++) {
    const isAmple = at % 2 === 0;
    const limit = Math.round((isAmple ? 10_000 : (calls / KEYS) * MEAN * 0.4) * 1e9);
    const name = `key-${at}`;
    const body = { name, kind: "call", budget: { limit, mode: "hard", window: "total" } };
    const { secret } = await weir.api.send<{ secret: string }>("POST", "/keys", { body });
    keys.push({ name, secret, isAmple, limit });
  }
  return keys;
}

interface Found {
  weir: RunningBooks;
  provider: TallyProvider;
  keys: readonly Key[];
  outcomes: readonly Outcome[];
  killed: number;
  hasKills: boolean;
  /** The number of the next call. */
  next: number;
}

async function compare({
  weir,
  provider,
  keys,
  outcomes,
  killed,
  hasKills,
  next,
}: Found): Promise<TallyReport> {
  const report: TallyReport = {
    results: {},
    exact: { calls: 0, billed: 0, booked: 0 },
    hosts: {},
    partial: { calls: 0, billed: 0, booked: 0 },
    kills: killed,
    wrong: { rows: [], refusals: [], sentences: [], over: [], sums: [], unused: [], other: [] },
    audit: { code: 0, output: "" },
  };
  const { wrong } = report;
  const all = [...outcomes];
  for (const key of keys) if (!key.isAmple) next = await spendTheRest(weir, key, next, all, wrong.unused);
  await atRest(weir);
  const rows = Map.groupBy(await listAll(weir.api, "GET /calls", "calls"), ({ client }) => client);
  const booked = (number: number) => rows.get(`tally/${number}`) ?? [];
  const costs = (entries: readonly CallEntry[]) =>
    entries.flatMap(({ attempts }) => attempts).reduce((sum, { charge }) => sum + charge.cost, 0);
  const billedOf = (number: number) => provider.bills.get(number) ?? [];
  for (const { exchange, result, text } of all) {
    const { number, ending, client, asked, kind } = exchange;
    report.results[result] = (report.results[result] ?? 0) + 1;
    const entries = booked(number);
    const bills = billedOf(number);
    const title = `${number} ${client} to ${asked}, ${kind}, ${ending}, ${result}`;
    const [billed, cost] = [sumOf(bills), costs(entries)];
    for (const { charge, held, usage } of entries.flatMap(({ attempts }) => attempts))
      if (charge.cost > held)
        wrong.over.push(`${title}: ${charge.state} ${charge.cost}, held ${held}, ${JSON.stringify(usage)}`);
    const isWhole = bills.every((bill) => bill.isWhole);
    if (isCompared({ result })) {
      const isRight =
        entries.length === 1 && billed === cost && isWhole && (result === "failed" || billed > 0);
      if (!isRight) wrong.rows.push(`${title}: billed ${billed}, booked ${cost} in ${entries.length} rows`);
      report.exact.calls++;
      report.hosts[asked] = (report.hosts[asked] ?? 0) + 1;
      report.exact.billed += billed;
      report.exact.booked += cost;
    } else if (result === "left" || result === "broken") {
      report.partial.calls++;
      report.partial.billed += billed;
      report.partial.booked += cost;
      // Without a kill nothing but the client and the provider ends a stream.
      const isRow = entries.length === 1 && cost > 0;
      if (!isRow && !hasKills) wrong.rows.push(`${title}: booked ${cost} in ${entries.length} rows`);
    } else if (result === "refused") {
      if (keyOf(keys, number).isAmple) wrong.refusals.push(`${title}: ${text}`);
      if (bills.length > 0) wrong.rows.push(`${title}: was refused, and the provider has billed ${billed}`);
      const [, left, need] = /has \$([\d.]+) of .* may cost up to \$([\d.]+)/.exec(text) ?? [];
      if (!(Number(left) <= Number(need))) wrong.sentences.push(text);
    } else if (result === "other" || (!hasKills && result === "lost")) wrong.other.push(`${title}: ${text}`);
  }
  for (const [at, key] of keys.entries()) {
    const window = (await weir.budget(key.name)).windows[0]!;
    const mine = all.map(({ exchange }) => exchange.number).filter((number) => keyOf(keys, number) === key);
    const charged = mine.reduce((sum, number) => sum + costs(booked(number)), 0);
    const billed = mine.reduce((sum, number) => sum + sumOf(billedOf(number)), 0);
    const title = `${key.name} (${at}): limit ${key.limit}, spent ${window.spent}, assumed ${window.assumed}, overrun ${window.overrun}, rows ${charged}, billed ${billed}`;
    if (window.spent + window.assumed > key.limit || billed > key.limit || window.overrun > 0)
      wrong.over.push(title);
    // What was assumed for a call with a row is in both.
    const total = window.spent + window.assumed;
    if (hasKills ? charged > total : charged !== total) wrong.sums.push(title);
  }
  const { code, output } = weir.run("audit");
  report.audit = { code, output: output.trim().split("\n").slice(-3).join("\n") };
  return report;
}

/** Whether the bill of a call must be in the books to the nano-dollar. */
function isCompared({ result }: Pick<Outcome, "result">): boolean {
  return result === "answered" || result === "failed";
}

function keyOf(keys: readonly Key[], number: number): Key {
  return keys[number % KEYS]!;
}

function sumOf(bills: readonly Bill[]): number {
  return bills.reduce((sum, { cost }) => sum + cost, 0);
}

/** One call after another until the budget refuses: what is left then is less than the call needs. @returns the next number */
async function spendTheRest(
  weir: RunningBooks,
  key: Key,
  first: number,
  outcomes: Outcome[],
  unused: string[],
): Promise<number> {
  let number = first;
  for (let refused: Outcome | undefined; !refused;) {
    // The next call of this key.
    while (!key.name.endsWith(`-${number % KEYS}`)) number++;
    const exchange = { ...exchangeOf(number++), ending: "whole" as const, stream: false };
    const outcome = await call(weir.url, key.secret, modelOf(exchange.asked, false), exchange);
    if (outcome.result === "refused") refused = outcome;
    if (outcome.result !== "unavailable") outcomes.push(outcome);
    if (!refused) continue;
    const need = Number(/may cost up to \$([\d.]+)/.exec(refused.text)?.[1]) * 1e9;
    const isDrained = await until(async () => (await weir.budget(key.name)).windows[0]!.held === 0, 10_000);
    const { spent, assumed } = (await weir.budget(key.name)).windows[0]!;
    if (!isDrained || key.limit - spent - assumed > need)
      unused.push(
        `${key.name}: ${key.limit - spent - assumed} is left, and ${need} was refused: ${refused.text}`,
      );
  }
  return number;
}

async function atRest(weir: RunningBooks): Promise<void> {
  for (let at = 0; at < KEYS; at++)
    await until(async () => {
      const [open] = (await weir.budget(`key-${at}`)).windows;
      return open !== undefined && open.held === 0 && open.granted === 0;
    }, 30_000);
}
