/** Texts of many kinds, made from a seed: the same on every machine. For all that counts tokens, bytes or money of texts. */

/** A generator of numbers from 0 to 1. */
export type Random = () => number;

/** Numbers from a seed: mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sentences by script. */
const PROSE = {
  latin: [
    "The gateway stands between the program and the companies that sell answers, and it writes down what each answer costs.",
    "Yesterday evening we walked along the river until the lamps were lit, and nobody spoke about the meeting.",
    "She asked whether the report could be finished by Thursday; he said that it depended on the weather in Lisbon.",
    "A budget that can be overspent is only a suggestion, so the amount is put aside before anything is sent.",
    "“It doesn't matter,” the old man replied, “as long as somebody remembers to feed the cat.”",
    "Please summarise the following paragraphs in three bullet points and keep the names of all persons.",
    "Der Schlüssel liegt unter der Fußmatte, aber die Tür klemmt seit dem großen Regen im vergangenen Herbst.",
    "Nous avons déjà commandé le café, mais personne ne sait à quelle heure le musée ferme ce dimanche.",
    "El tren llegó con veinte minutos de retraso y la señora del andén preguntó si quedaba algún asiento libre.",
    "La biblioteca della città conserva più di mille lettere scritte a mano da un medico di campagna.",
    "O barco saiu do porto antes do nascer do sol, carregado de laranjas, azeite e algumas cartas.",
    "Wczoraj wieczorem spotkaliśmy się przy starym młynie, żeby porozmawiać o wspólnej podróży w góry.",
    "Kütüphanenin arkasındaki bahçede oturup öğleden sonraya kadar eski gazeteleri okuduk.",
    "Buổi sáng ở chợ nổi rất đông người, ai cũng muốn mua trái cây tươi trước khi trời nắng.",
    "Huomenna lähdemme mökille, koska sääennusteen mukaan viikonlopusta tulee aurinkoinen ja lämmin.",
    "Watoto walicheza kando ya ziwa mpaka jua lilipozama, kisha wakarudi nyumbani wakiimba.",
    "Pada malam hari angin laut bertiup pelan dan para nelayan menyiapkan jala mereka.",
    "Het water stond zo hoog dat de boer zijn koeien naar de dijk moest brengen.",
  ],
  cyrillic: [
    "Вчера вечером мы долго говорили о книгах, которые никто из нас так и не дочитал до конца.",
    "Поезд опоздал на двадцать минут, но на вокзале было тепло и пахло свежим хлебом.",
    "Если деньги кончатся раньше срока, программа должна остановиться и сказать об этом прямо.",
    "Старый мастер починил часы и отказался брать плату за свою работу.",
    "На берегу реки стоял дом с зелёной крышей, и в его окнах горел свет.",
    "Учёные сообщили, что новый способ измерения оказался проще и точнее прежнего.",
    "Ми зустрілися біля старого мосту й довго дивилися, як повільно тече річка.",
  ],
  greek: [
    "Το τρένο έφυγε νωρίς το πρωί και στον σταθμό έμεινε μόνο ένας σκύλος που κοιμόταν.",
    "Η γιαγιά μας έλεγε ιστορίες για τη θάλασσα και για τα πλοία που δεν γύρισαν ποτέ.",
    "Όποιος μετράει τα χρήματα πριν τα ξοδέψει κοιμάται πιο ήσυχα τη νύχτα.",
    "Στην πλατεία του χωριού οι γέροι παίζουν τάβλι και μιλούν για τον καιρό.",
    "Το βιβλίο περιγράφει με απλά λόγια πώς δουλεύουν οι μηχανές που απαντούν σε ερωτήσεις.",
  ],
  hebrew: [
    "אתמול בערב הלכנו לאורך החוף ודיברנו על הספר שקראנו בשבוע שעבר.",
    "הרכבת איחרה בעשרים דקות, אבל אף אחד בתחנה לא התלונן.",
    "מי שסופר את הכסף לפני שהוא מוציא אותו ישן טוב יותר בלילה.",
    "בגינה שמאחורי הבית גדל עץ לימון שנטע סבא לפני שנים רבות.",
    "המורה ביקשה מהתלמידים לכתוב סיפור קצר על יום אחד בלי חשמל.",
  ],
  arabic: [
    "وصل القطار متأخرا عشرين دقيقة ولم يشتك أحد من المسافرين على الرصيف.",
    "في المساء جلسنا قرب النهر نتحدث عن الكتب التي لم نكمل قراءتها.",
    "من يحسب المال قبل أن ينفقه ينام نوما هادئا في الليل.",
    "زرع جدي شجرة ليمون خلف البيت وما زالت تثمر كل عام.",
    "طلبت المعلمة من الطلاب أن يكتبوا قصة قصيرة عن يوم بلا كهرباء.",
    "شب گذشته باران بارید و کوچه‌های شهر پر از بوی خاک شد.",
  ],
  devanagari: [
    "कल शाम हम नदी के किनारे बैठकर उन किताबों के बारे में बात करते रहे जो अधूरी रह गईं।",
    "रेलगाड़ी बीस मिनट देर से आई, पर किसी यात्री ने शिकायत नहीं की।",
    "जो खर्च करने से पहले पैसे गिनता है, वह रात को चैन से सोता है।",
    "दादाजी ने घर के पीछे नींबू का एक पेड़ लगाया था जो आज भी फल देता है।",
    "शिक्षिका ने बच्चों से बिना बिजली के एक दिन पर छोटी कहानी लिखने को कहा।",
  ],
  bengali: [
    "গতকাল সন্ধ্যায় আমরা নদীর ধারে বসে অসমাপ্ত বইগুলোর কথা বলছিলাম।",
    "ট্রেন বিশ মিনিট দেরিতে এল, কিন্তু কোনো যাত্রী অভিযোগ করেনি।",
    "যে খরচ করার আগে টাকা গোনে, সে রাতে শান্তিতে ঘুমায়।",
    "দাদু বাড়ির পেছনে একটি লেবু গাছ লাগিয়েছিলেন, আজও তাতে ফল ধরে।",
  ],
  tamil: [
    "நேற்று மாலை நாங்கள் ஆற்றங்கரையில் அமர்ந்து படித்து முடிக்காத புத்தகங்களைப் பற்றிப் பேசினோம்.",
    "ரயில் இருபது நிமிடம் தாமதமாக வந்தது, ஆனால் பயணிகள் யாரும் குறை சொல்லவில்லை.",
    "செலவு செய்வதற்கு முன் பணத்தை எண்ணுபவன் இரவில் நிம்மதியாகத் தூங்குகிறான்.",
    "தாத்தா வீட்டின் பின்புறம் நட்ட எலுமிச்சை மரம் இன்றும் காய்க்கிறது.",
  ],
  thai: [
    "เมื่อวานตอนเย็นเรานั่งริมแม่น้ำและคุยกันเรื่องหนังสือที่ยังอ่านไม่จบ",
    "รถไฟมาช้ายี่สิบนาทีแต่ไม่มีผู้โดยสารคนไหนบ่นเลย",
    "คนที่นับเงินก่อนใช้จะนอนหลับสบายในเวลากลางคืน",
    "คุณปู่ปลูกต้นมะนาวไว้หลังบ้านและทุกวันนี้ก็ยังออกผลอยู่",
  ],
  chinese: [
    "昨天傍晚我们坐在河边，谈起那些没有读完的书。",
    "火车晚点了二十分钟，站台上却没有人抱怨。",
    "花钱之前先数一数的人，晚上睡得更安稳。",
    "爷爷在屋后种了一棵柠檬树，到现在每年还结果子。",
    "老师让学生们写一篇短文，题目是没有电的一天。",
    "預算用完以後，程式必須停下來，並且清楚地說明原因。",
    "圖書館後面的花園裡，有一位老人每天都來看報紙。",
  ],
  japanese: [
    "昨日の夕方、私たちは川のそばに座って、まだ読み終えていない本の話をした。",
    "電車は二十分遅れたが、ホームで文句を言う人は一人もいなかった。",
    "お金を使う前に数える人は、夜ぐっすり眠れるそうだ。",
    "祖父が家の裏に植えたレモンの木は、今でも毎年たくさんの実をつける。",
    "先生は生徒たちに、電気のない一日について短い話を書くように言った。",
  ],
  korean: [
    "어제 저녁 우리는 강가에 앉아 아직 다 읽지 못한 책에 대해 이야기했다.",
    "기차는 이십 분 늦게 도착했지만 승강장에서 불평하는 사람은 없었다.",
    "돈을 쓰기 전에 세어 보는 사람은 밤에 편안하게 잠을 잔다.",
    "할아버지가 집 뒤에 심은 레몬나무는 지금도 해마다 열매를 맺는다.",
    "선생님은 학생들에게 전기가 없는 하루에 관한 짧은 글을 쓰라고 했다.",
  ],
} as const;

export const SCRIPTS = Object.keys(PROSE) as (keyof typeof PROSE)[];

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const between = (random: Random, least: number, most: number) =>
  least + Math.floor(random() * (most - least + 1));
const times = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => make(at));
const letters = (random: Random, alphabet: string, length: number) =>
  times(length, () => alphabet[Math.floor(random() * alphabet.length)]!).join("");

/** Sentences of a script in a random order, of about a length. */
function prose(script: keyof typeof PROSE): (random: Random, length: number) => string {
  return (random, length) => {
    let text = "";
    while (text.length < length) text += pick(random, PROSE[script]) + pick(random, [" ", " ", " ", "\n\n"]);
    return text.slice(0, length);
  };
}

const NAMES =
  "user order account total price count index buffer request answer token budget window key path stream event error value result node cache limit name state config".split(
    " ",
  );

/** Code in several languages; `$a`, `$b` and `$c` stand for names, `$B` for a capital one, `$n` for a number. */
const CODE = [
  "export function $a$B(list: readonly $B[], $b: number): $B | undefined {\n  for (const [at, each] of list.entries()) {\n    if (each.$c === $b) return list[at + 1];\n  }\n  return undefined;\n}\n\n",
  'const $a = await fetch(`${base}/v1/$b?limit=$n`, {\n  method: "POST",\n  headers: { "content-type": "application/json" },\n  body: JSON.stringify({ $c, $b: $n }),\n});\n',
  'def $a_$b(self, $c, *, limit=$n):\n    """Return the $b of a $c, or None."""\n    if not isinstance($c, dict):\n        raise TypeError(f"$c is {type($c)!r}")\n    return [x.$a for x in $c.values() if x.$b > limit]\n\n',
  "static int $a_$b(struct $c *p, size_t len)\n{\n\tif (p == NULL || len > $n)\n\t\treturn -EINVAL;\n\tmemcpy(p->$b, buf, len);\n\treturn 0;\n}\n\n",
  "SELECT $a.id, count(*) AS $b\nFROM $a\nJOIN $c ON $c.$a_id = $a.id\nWHERE $c.created_at > now() - interval '$n days'\nGROUP BY $a.id\nORDER BY $b DESC;\n\n",
  'func ($a *$B) $B$n(ctx context.Context) error {\n\tif err := $a.$b.Close(); err != nil {\n\t\treturn fmt.Errorf("close $c: %w", err)\n\t}\n\treturn nil\n}\n\n',
  'for f in "$@"; do\n  grep -q \'$a\' "$f" && sed -i "s/$b/$c/g" "$f" || echo "skip $f" >&2\ndone\n',
  '<div class="$a-$b">\n  <a href="/$c/$n">{{ $a.$b }}</a>\n</div>\n',
  "impl<T: Clone> $B<T> {\n    pub fn $a(&self) -> Option<&T> {\n        self.$b.iter().filter(|x| x.$c > $n).next()\n    }\n}\n\n",
  ".$a-$b {\n  display: flex;\n  margin: 0 $npx;\n  color: var(--$c);\n}\n\n",
];

function code(random: Random, length: number): string {
  let text = "";
  while (text.length < length) {
    const [a, b, c] = times(3, () => pick(random, NAMES)) as [string, string, string];
    const capital = b[0]!.toUpperCase() + b.slice(1);
    text += pick(random, CODE)
      .replaceAll("$a", a)
      .replaceAll("$b", b)
      .replaceAll("$c", c)
      .replaceAll("$B", capital)
      .replaceAll("$n", () => String(between(random, 1, 500)));
  }
  return text.slice(0, length);
}

function json(random: Random, length: number): string {
  const value = (depth: number): unknown => {
    const kind = random();
    if (depth > 0 && kind < 0.35)
      return Object.fromEntries(
        times(between(random, 1, 5), () => pick(random, NAMES)).map((name) => [name, value(depth - 1)]),
      );
    if (depth > 0 && kind < 0.5) return times(between(random, 1, 4), () => "").map(() => value(depth - 1));
    if (kind < 0.65) return between(random, -1000, 100_000);
    if (kind < 0.75) return random() < 0.5;
    return `${pick(random, NAMES)} ${pick(random, NAMES)}`;
  };
  const indent = pick(random, [undefined, 2, undefined]);
  let text = "";
  while (text.length < length) text += `${JSON.stringify(value(4), null, indent)}\n`;
  return text.slice(0, length);
}

function digits(random: Random, length: number): string {
  const item = pick<() => string>(random, [
    () => String(between(random, 0, 9)),
    () => random().toFixed(between(random, 1, 8)),
    () => String(between(random, 0, 1_000_000)),
  ]);
  const separator = pick(random, [",", ", ", " ", "\n", ";", "", "\t"]);
  return times(length, item).join(separator).slice(0, length);
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const EMOJI = ["👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "❤️", "🏳️‍🌈", "1️⃣", "☕", "✅", "😀", "🚀", "🪐", "🧑‍💻"];

function emoji(random: Random, length: number): string {
  const isOne = random() < 0.5;
  const one = () => (isOne ? String.fromCodePoint(between(random, 0x1f300, 0x1f64f)) : pick(random, EMOJI));
  return times(Math.ceil(length / 3), one).join(pick(random, ["", " "]));
}

function whiteSpace(random: Random, length: number): string {
  if (random() < 0.4) return letters(random, " \t\n\r", length);
  const blank = pick(random, [" ", "\t", "\n"]);
  return times(Math.ceil(length / 12), () => blank.repeat(between(random, 1, 24))).join(
    pick(random, ["\n", "x", "\t", ""]),
  );
}

/** Makes a text of one kind. Its length is about `length` characters. */
export type MakeText = (random: Random, length: number) => string;

/** All kinds: prose in twelve scripts, and what is not prose. */
export const TEXTS: Readonly<Record<string, MakeText>> = {
  ...Object.fromEntries(SCRIPTS.map((script) => [script, prose(script)])),
  code,
  json,
  digits,
  base64: (random, length) => letters(random, BASE64, length),
  hex: (random, length) => letters(random, pick(random, ["0123456789abcdef", "0123456789ABCDEF"]), length),
  emoji,
  whiteSpace,
};

/** @returns `count` texts of all kinds in turn, of 60 to 700 characters */
export function textsOfAllKinds(count: number, seed = 1): { kind: string; text: string }[] {
  const random = randomOf(seed);
  const kinds = Object.entries(TEXTS);
  return Array.from({ length: count }, (_, at) => {
    const [kind, make] = kinds[at % kinds.length]!;
    return { kind, text: make(random, between(random, 60, 700)) };
  });
}
