/** Retries and cool-downs by the cause of the failure, and the timeout of streams, over real sockets. */
import { describe, expect, test } from "bun:test";
import { answering, ask, failing, inOrder, makeStage, places, STREAM } from "../helpers/places.ts";
import { type Answer, type Handler, html, json, silence, sse, stalled } from "../helpers/upstream.ts";

const { upstream, gateway } = makeStage();

const DEAD = "http://127.0.0.1:1";

/** A circuit breaker that lets the repeats of a test pass at once. */
const SHORT = { cooldownMs: 1, longestCooldownMs: 1 };

/** Spares the test the pauses between attempts. */
const SOON = { "retry-after-ms": "1" };

/** How a provider fails, by the cause that the policy names. */
const FAILURES: readonly [cause: string, answer: Answer][] = [
  ["rateLimited", failing(429, SOON)],
  ["overloaded", failing(503, SOON)],
  ["overloaded", failing(529, SOON)],
  ["serverError", failing(500, SOON)],
  ["serverError", failing(502, SOON)],
  ["timeout", failing(504, SOON)],
  ["timeout", failing(408, SOON)],
  ["invalidAnswer", html(200)],
  ["authentication", failing(401, SOON)],
];

const CAUSES = [...new Set(FAILURES.map(([cause]) => cause)), "connection"];

/** Models of one gateway, each with a policy in its name: `many-rateLimited-2` has four deployments, `one-…` has one. */
const POLICIES = Object.fromEntries(
  CAUSES.flatMap((cause) =>
    [0, 2, 3].flatMap((most) =>
      ["one", "many", "dead"].map((places) => [
        `openai/${places}-${cause}-${most}*`,
        { retries: { attempts: 5, policy: { [cause]: most } } },
      ]),
    ),
  ),
);

test("a policy counts the repeats of its cause, at several deployments and at one", async () => {
  const provider = upstream(answering);
  const here = ["one-*", "many-*"];
  const running = await gateway({
    providers: places([...Array.from({ length: 4 }, () => provider.url), DEAD], (index) => ({
      models: index === 0 ? here : index === 4 ? ["dead-*"] : ["many-*"],
    })),
    models: POLICIES,
    circuitBreaker: SHORT,
  });
  /** The number of attempts, as the provider and the client count them. */
  const attemptsOf = async (model: string): Promise<number> => {
    const before = provider.requests.length;
    const { status, headers } = await ask(running, { body: { model: `openai/${model}` } });
    expect(status).toBeGreaterThanOrEqual(400);
    const attempts = Number(headers.get("x-weir-attempts"));
    if (!model.startsWith("dead")) expect(provider.requests.length - before).toBe(attempts);
    return attempts;
  };
  for (const [index, [cause, answer]] of FAILURES.entries()) {
    provider.answer(() => answer);
    const other = CAUSES[(CAUSES.indexOf(cause) + 1) % CAUSES.length]!;
    const counts: number[] = [];
    for (const policy of [`many-${cause}-0`, `many-${cause}-2`, `one-${cause}-0`, `one-${cause}-3`])
      counts.push(await attemptsOf(policy + index));
    counts.push(await attemptsOf(`many-${other}-0${index}`));
    // weir never repeats a call at a deployment that refuses the credential.
    expect([cause, ...counts]).toEqual(
      cause === "authentication" ? [cause, 1, 3, 1, 1, 4] : [cause, 1, 3, 1, 4, 5],
    );
  }
  expect([await attemptsOf("dead-connection-0"), await attemptsOf("dead-connection-3")]).toEqual([1, 4]);
}, 60_000);

test("what a provider may have read is sent twice at most, and not at all without maybeSent", async () => {
  for (const [answer, cause] of [
    [() => ({ raw: [], ending: "rst" as const }), "connection"],
    [silence, "timeout"],
  ] as const)
    for (const [maybeSent, sent] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const provider = upstream(answer as Handler);
      const running = await gateway({
        providers: places([provider.url]),
        retries: { attempts: 9, maybeSent, policy: { [cause]: 5 } },
        circuitBreaker: SHORT,
        timeouts: { firstByteMs: 500 },
      });
      await ask(running);
      expect([cause, provider.requests.length]).toEqual([cause, sent]);
    }
});

test("a policy of 0 leads to the fallback at once, and a provider's retry-after is awaited", async () => {
  const [limited, spare] = [upstream(() => failing(429)), upstream(answering)];
  const running = await gateway({
    providers: {
      ...places([limited.url, limited.url]),
      spare: { baseUrl: `${spare.url}/v1`, speaks: "chat-completions" },
    },
    fallbacks: { "openai/m": ["spare/m"] },
    retries: { attempts: 5, policy: { rateLimited: 0 } },
  });
  expect((await ask(running)).status).toBe(200);
  const posts = [limited, spare].map(
    ({ requests }) => requests.filter(({ method }) => method === "POST").length,
  );
  expect(posts).toEqual([1, 1]);

  let asked = 0;
  const later = upstream(() => (asked++ < 2 ? failing(429, { "retry-after-ms": "300" }) : json({ id: "x" })));
  const patient = await gateway({
    providers: places([later.url]),
    retries: { attempts: 5, policy: { rateLimited: 2 } },
  });
  const began = performance.now();
  expect((await ask(patient)).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(590);
});

test("a model has retries of its own, the others those of the gateway", async () => {
  const provider = upstream(() => failing(503));
  const running = await gateway({
    providers: places([provider.url]),
    aliases: { patient: "openai/p" },
    retries: { attempts: 2, policy: { overloaded: 0 } },
    models: { patient: { retries: { attempts: 4, policy: { overloaded: 3 } } } },
    circuitBreaker: SHORT,
  });
  await ask(running);
  expect(provider.requests.length).toBe(1);
  await ask(running, { body: { model: "patient" } });
  expect(provider.requests.length).toBe(5);
});

describe("circuit breaker", () => {
  test("failures in a row, by cause where the policy has a number, and not at all", async () => {
    const policy = { failures: 2, policy: { serverError: 4, rateLimited: 3, authentication: 2 } };
    const refusedNow = failing(429, { "retry-after": "60" });
    /** Options of a model, how it fails, and after how many calls its deployment is skipped. */
    const rows: readonly [options: object | undefined, answer: Answer, calls: number | undefined][] = [
      [undefined, failing(500), 3],
      [undefined, failing(429), 1],
      [{ failures: 5 }, failing(500), 5],
      [policy, failing(500), 4],
      [policy, failing(503), 2],
      [policy, refusedNow, 3],
      [policy, failing(401), 2],
      [{ enabled: false }, failing(500), undefined],
      [{ enabled: false }, refusedNow, undefined],
      [{ enabled: false }, failing(401), undefined],
    ];
    const broken = upstream(answering);
    const models = Object.fromEntries(
      rows.flatMap(([circuitBreaker], row) =>
        circuitBreaker ? [[`openai/m${row}`, { circuitBreaker }]] : [],
      ),
    );
    const running = await gateway({
      providers: places([broken.url, upstream(answering).url], inOrder),
      models,
    });
    for (const [row, [, answer, calls]] of rows.entries()) {
      broken.answer(() => answer);
      const skipped: boolean[] = [];
      for (let call = 0; call < 6; call++)
        skipped.push(
          (await ask(running, { body: { model: `openai/m${row}` } })).headers.get("x-weir-skipped") !== null,
        );
      expect([row, skipped.indexOf(true)]).toEqual([row, calls ?? -1]);
    }
    const told = running.log.filter((line) => line.includes("weir goes on calling it"));
    expect(told).toHaveLength(1);
  }, 60_000);

  test("cooldownMs is the time after which one call probes it", async () => {
    let isDown = true;
    const running = await gateway({
      providers: places(
        [upstream((request) => (isDown ? failing(500) : answering(request))).url, upstream(answering).url],
        inOrder,
      ),
      circuitBreaker: { failures: 1, cooldownMs: 400, longestCooldownMs: 400 },
    });
    await ask(running);
    isDown = false;
    expect((await ask(running)).headers.get("x-weir-skipped")).toBe("openai/d0");
    await Bun.sleep(450);
    const { headers } = await ask(running);
    expect([headers.get("x-weir-skipped"), headers.get("x-weir-deployment")]).toEqual([null, "openai/d0"]);
  });
});

describe("streamFirstByteMs", () => {
  const slowly: Handler = async (request) => {
    await Bun.sleep(900);
    return answering(request);
  };
  const stream = { stream: true };

  test("limits the time to the first event of streams alone, for all and for one model", async () => {
    const provider = upstream(slowly);
    const running = await gateway({
      providers: places([provider.url]),
      retries: { attempts: 1 },
      timeouts: { streamFirstByteMs: 200 },
      models: { "openai/slow": { timeouts: { streamFirstByteMs: 20_000 } } },
    });
    expect((await ask(running, { body: stream })).status).toBe(504);
    expect((await ask(running)).status).toBe(200);
    expect((await ask(running, { body: { ...stream, model: "openai/slow" } })).status).toBe(200);
    const messages = { path: "/v1/messages", body: { ...stream, model: "openai/m" } };
    expect((await ask(running, messages)).status).toBe(504);
  });

  test("comments and heartbeats of the provider are no event, and the next deployment answers", async () => {
    const silent = upstream(() => stalled([": waiting\n\n", ": waiting\n\n"]));
    const running = await gateway({
      providers: places([silent.url, upstream(answering).url], inOrder),
      timeouts: { streamFirstByteMs: 300 },
    });
    for (const path of ["/v1/chat/completions", "/v1/messages"]) {
      const { status, headers } = await ask(running, { path, body: stream });
      expect([status, headers.get("x-weir-deployment")]).toEqual([200, "openai/d1"]);
      expect(headers.get("x-weir-tried")).toMatch(/^openai\/d0:timeout:/);
    }
  });

  test("does not limit the time between events, which gapMs does for a model", async () => {
    const paced = upstream(() => sse([STREAM[0]!, { wait: 900 }, ...STREAM.slice(1)]));
    const running = await gateway({
      providers: places([paced.url]),
      timeouts: { streamFirstByteMs: 300 },
      models: { "openai/gap": { timeouts: { gapMs: 200 } } },
    });
    const whole = await ask(running, { body: stream });
    expect([whole.status, whole.text]).toEqual([200, expect.stringContaining("[DONE]")]);
    const short = await ask(running, { body: { ...stream, model: "openai/gap" } });
    expect(short.text).toContain("sent nothing for");
  });
});

test("comments of the provider are a sign of life inside an answer, whatever the client's format", async () => {
  const comments = Array.from({ length: 9 }, () => [{ wait: 200 }, ": waiting\n\n"]).flat();
  const paced = upstream(() => sse([STREAM[0]!, ...comments, ...STREAM.slice(1)]));
  const running = await gateway({ providers: places([paced.url]), timeouts: { gapMs: 900 } });
  const asked = ["/v1/chat/completions", "/v1/messages"].map((path) =>
    ask(running, { path, body: { stream: true } }),
  );
  for (const { text } of await Promise.all(asked)) {
    expect(text).toContain("word 4");
    expect(text).not.toContain("sent nothing for");
  }
});

test("explain says how often a call is repeated after each failure, and when its target is skipped", async () => {
  const running = await gateway({
    providers: places([DEAD]),
    retries: { policy: { timeout: 1 } },
    circuitBreaker: { failures: 7 },
    models: { "openai/m": { retries: { attempts: 6, policy: { rateLimited: 4 } } } },
  });
  const explained = JSON.parse((await ask(running, { path: "/v1/explain?format=messages" })).text) as object;
  expect(explained).toMatchObject({
    retries: {
      attempts: 6,
      repeats_after: { connection: 5, timeout: 1, rateLimited: 4, overloaded: 5, authentication: 5 },
    },
    circuit_breaker: { enabled: true, failures: 7, cooldown_ms: 5_000, longest_cooldown_ms: 300_000 },
  });
});

test("senseless numbers stop the start, with their place", async () => {
  const refused: [object, string][] = [
    [{ retries: { policy: { timeout: -1 } } }, "timeout must be an integer between 0 and 9, but is -1"],
    [{ retries: { policy: { timeout: 1000 } } }, "timeout must be an integer between 0 and 9"],
    [{ retries: { policy: { timeOut: 1 } } }, "did you mean timeout?"],
    [
      { retries: { policy: { timeout: 4 } } },
      "timeout is 4, but retries.attempts: 3 allows 2; set attempts to 5",
    ],
    [{ models: { m: { retries: { attempts: 2, policy: { overloaded: 2 } } } } }, "overloaded is 2"],
    [{ circuitBreaker: { failures: 0 } }, "failures must be an integer between 1"],
    [{ circuitBreaker: { cooldownMs: -5 } }, "cooldownMs must be an integer between 1"],
    [{ circuitBreaker: { cooldownMs: 1e12 } }, "cooldownMs must be an integer between 1 and 86400000"],
    [
      { circuitBreaker: { cooldownMs: 400_000 } },
      "cooldownMs (400000) is longer than longestCooldownMs (300000)",
    ],
    [
      { circuitBreaker: { longestCooldownMs: 10 } },
      "cooldownMs (5000) is longer than longestCooldownMs (10)",
    ],
    [{ timeouts: { streamFirstByteMs: 0 } }, "streamFirstByteMs must be an integer between 1"],
  ];
  for (const [config, says] of refused)
    await expect(gateway(config as Record<string, unknown>)).rejects.toThrow(says);
});
