/** The meaning of a model name at this moment: the order of attempts, with state and reason of each. */
import type { PlanStep, Routing } from "../../data/types.ts";
import { now } from "../../data/clock.ts";
import { hrefOf } from "../../data/location.ts";
import type { Reading } from "../../data/use-api.ts";
import { duration } from "../../numbers/durations.ts";
import { Shape, type State } from "../../parts/icons.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Blank, Loaded } from "../../parts/states.tsx";

const STATES: Readonly<Record<PlanStep["state"], State>> = {
  healthy: "ok",
  "on-trial": "warn",
  full: "warn",
  "left-alone": "bad",
};

export function PlanPanel({ model, routing }: { model: string; routing: Reading<Routing> }) {
  if (model === "") return null;
  return (
    <Panel title={`What “${model}” means now`} busy={routing.busy && !routing.data}>
      <Loaded of={routing} what="The plan" rows={3}>
        {(answer) => <Plan routing={answer} />}
      </Loaded>
    </Panel>
  );
}

function Plan({ routing: { model, plan, fault } }: { routing: Routing }) {
  if (plan.length === 0)
    return <Blank title={`No provider serves “${model}”.`}>{fault ?? "A client would get 404."}</Blank>;
  return (
    <div class="body">
      <ol class="plan">
        {plan.map((step, at) => (
          <li key={`${step.role} ${step.deployment} ${step.model}`}>
            <span class="n">{at + 1}</span>
            <span>
              <a class="plain" href={hrefOf("/providers", { open: step.deployment })}>
                <b>{nameOf(step)}</b>
              </a>{" "}
              <span class="mid">{step.model}</span>
              <div class="dim">{reasonOf(step)}</div>
              {step.state !== "healthy" && (
                <div class={step.state === "left-alone" ? "c-bad" : "c-warn"}>{stateOf(step)}</div>
              )}
            </span>
            <span class="mark" title={stateOf(step)}>
              <Shape state={STATES[step.state]} />
              <span class="vh">{stateOf(step)}</span>
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

const nameOf = ({ provider, deployment }: PlanStep): string =>
  deployment === provider || deployment === "" ? provider : deployment;

const ROLES: Readonly<Record<PlanStep["role"], string>> = {
  target: "",
  fallback: "when all above failed",
  larger: "when the prompt does not fit",
};

function reasonOf({ role, lane, weight, priority, reason }: PlanStep): string {
  const order = weight === 1 && /^0(\.0)?$/.test(priority) ? "" : `weight ${weight}, priority ${priority}`;
  return [ROLES[role], lane, order, reason].filter((part) => part !== "").join(", ");
}

function stateOf({ state, until }: PlanStep): string {
  switch (state) {
    case "healthy":
      return "healthy";
    case "on-trial":
      return "on trial: one call may try it";
    case "full":
      return "full: all its places are taken";
    case "left-alone":
      return until === undefined || until <= now.value
        ? "left alone"
        : `left alone for ${duration(until - now.value)}`;
  }
}
