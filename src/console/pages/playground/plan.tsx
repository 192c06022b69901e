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
              <div class="dim">{reasonOf(step, plan)}</div>
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

function reasonOf({ role, lane, weight, priority, reason }: PlanStep, plan: readonly PlanStep[]): string {
  const alike = plan.filter((step) => step.role === role && step.priority === priority);
  const differ = alike.some((step) => step.weight !== weight);
  const total = alike.reduce((sum, step) => sum + step.weight, 0);
  const isLater = role === "target" && priority !== plan[0]!.priority;
  const parts = [
    isLater ? ROLES.fallback : ROLES[role],
    lane,
    ...(differ ? [`weight ${weight} of ${total}`] : []),
    reason,
  ];
  return parts.filter((part) => part !== "").join(", ");
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
        ? "skipped"
        : `skipped for ${duration(until - now.value)}`;
  }
}
