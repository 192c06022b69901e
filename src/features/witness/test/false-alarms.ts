/** Years of looks at a model that does not change: what its tests say by chance. */
import { GROUPS } from "../questions.ts";
import { LEAST_ANSWERS, LEAST_EXACT, LEAST_SPEED, limitsOf } from "../judge/limits.ts";
import { CategorySeries, RankSeries } from "../stats/series.ts";
import { windowsAt } from "../stats/windows.ts";
import { FAVOURITES, pick, seeded } from "./host.ts";
import { normal } from "./simulated.ts";

const LOOKS = 8_760;
const BLOCKS = LOOKS / 6;
/** Facts that change with the server that answers, without a change of the provider: shares of looks with another value. */
const FLICKERING = [0.5, 0.2, 0.05, 0.01];

/** @returns the alarms of each test in a number of years of hourly looks at one model */
export function falseAlarms(years: number, seed: number): Record<"answers" | "exact" | "speed", number> {
  const limits = limitsOf(1, 3_600_000);
  const random = seeded(seed);
  const alarms = { answers: 0, exact: 0, speed: 0 };
  for (let year = 0; year < years; year++) {
    for (const group of GROUPS)
      alarms.answers += answersOfYear(group, limits.answers.get(group.name)!, random);
    for (const share of FLICKERING) alarms.exact += factOfYear(share, limits.exact, random);
    for (let speed = 0; speed < 2; speed++) alarms.speed += speedOfYear(limits.speed, random);
  }
  return alarms;
}

function answersOfYear(
  { name, size, perLook, categoryOf }: (typeof GROUPS)[number],
  limit: number,
  random: () => number,
) {
  const { answers, usual } = FAVOURITES[name]!;
  const categories = answers.map((word) => categoryOf(word.toLowerCase()));
  let series = new CategorySeries(size);
  let alarms = 0;
  let begun = 0;
  for (let look = 1; look <= LOOKS; look++) {
    for (let at = 0; at < perLook; at++) series.push(categories[pick(usual, random())]!);
    if (!windowsAt(look - begun, LEAST_ANSWERS).some((length) => series.compare(perLook * length, limit)))
      continue;
    alarms++;
    begun = look;
    series = new CategorySeries(size);
  }
  return alarms;
}

function factOfYear(share: number, limit: number, random: () => number) {
  let series = new CategorySeries(2);
  let alarms = 0;
  for (let look = 1; look <= LOOKS; look++) {
    const isOther = random() < share;
    series.push(isOther ? 1 : 0);
    if (!isOther || !windowsAt(series.length, LEAST_EXACT).some((length) => series.compare(length, limit)))
      continue;
    alarms++;
    series = new CategorySeries(2);
  }
  return alarms;
}

/** The load of each provider has a day, a week, and hours in which it is higher. */
function speedOfYear(limit: number, random: () => number) {
  let series = new RankSeries();
  let alarms = 0;
  let drift = 0;
  for (let block = 0; block < BLOCKS; block++) {
    drift = 0.4 * drift + 0.1 * normal(random);
    const isWeekend = Math.floor(block / 4) % 7 > 4;
    const load = 0.2 * Math.sin((Math.PI * block) / 2) - (isWeekend ? 0.1 : 0);
    series.push(load + drift + 0.1 * normal(random));
    if (!windowsAt(series.length, LEAST_SPEED).some((length) => series.compare(length, limit))) continue;
    alarms++;
    series = new RankSeries();
  }
  return alarms;
}

if (import.meta.main) {
  const years = Number(process.argv[2] ?? 10_000);
  const begun = performance.now();
  console.log(
    falseAlarms(years, Number(process.argv[3] ?? 1)),
    `${years} years`,
    `${Math.round((performance.now() - begun) / 1000)} s`,
  );
}
