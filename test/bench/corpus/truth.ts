import { Random } from './random.js';

/** What truly happened, which no bank tells. */
export interface Truth {
  /** Equal for transactions that nobody could tell apart: same shop, amount and day. */
  label: string;
  serial: number;
  merchant: string;
  minor: number;
  /** Of the purchase, from the first day of the history. */
  day: number;
  /** Days until it is booked; a cancelled one is gone by then. */
  delay: number;
  cancelled: boolean;
  /** The number that the card scheme or the payer gave it. */
  reference: string;
  /** How much more or less is booked than was held. */
  tip: number;
}

/** Shops with one price, where equal purchases are the rule, and shops with any price. */
const fixedPrices: readonly [readonly [string, number], ...(readonly [string, number])[]] = [
  ['NETFLIX.COM', -1099],
  ['PRET A MANGER 114', -375],
  ['COFFEE REPUBLIC', -350],
  ['TFL TRAVEL CHARGE', -280],
  ['SPOTIFY P0F3', -999],
  ['CITY CAR PARK', -600],
];
const shops: readonly [string, ...string[]] = [
  'TESCO STORES 2209',
  'SAINSBURYS S/MKT',
  'UBER *TRIP',
  'BOOTS THE CHEMIST',
  'AMZNMKTPLACE',
  'SHELL OXFORD ROAD',
  'WATERSTONES',
  'DELIVEROO',
  'BRITISH GAS',
  'ARGOS LTD',
  'IKEA LAKESIDE',
  'THE RED LION',
  'EASYJET',
  'SCREWFIX DIRECT',
  'HALFORDS',
  'NANDOS KITCHEN',
];

export const historyDays = 60;

/** The life of one account. */
export function makeTruths(random: Random, count: number, twins: number): Truth[] {
  const list: Truth[] = [];
  while (list.length < count) {
    const truth = makeTruth(random, list.length);
    list.push(truth);
    if (random.chance(twins))
      list.push({ ...truth, serial: list.length, reference: `R${random.between(10_000_000, 99_999_999)}` });
  }
  return list;
}

function makeTruth(random: Random, serial: number): Truth {
  const [merchant, fixed] = random.chance(0.25) ? random.pick(fixedPrices) : [random.pick(shops), 0];
  const minor = fixed || -random.between(150, 25_000);
  const day = random.between(0, historyDays);
  const delay = random.pick([0, 1, 1, 2, 2, 3, 4, 6]);
  return {
    label: `${merchant} ${minor} ${day}`,
    serial,
    merchant,
    minor,
    day,
    delay,
    cancelled: delay > 0 && random.chance(0.03),
    reference: `R${random.between(10_000_000, 99_999_999)}`,
    tip: random.between(20, 900),
  };
}

const firstNames = ['ANNA', 'ANNE', 'JOHN', 'JOAN', 'MARIA', 'MARIO', 'PETER', 'SARAH'];
const payers = ['SMITH', 'SCHMIDT', 'ROSSI', 'JONES', 'PATEL', 'OKAFOR', 'MURPHY'].flatMap((name) =>
  firstNames.map((first) => `${first} ${name}`),
);

/** The same lives as those of receipts of one price, which only their text tells apart: a number, or the name of a payer. */
export function asReceipts(truths: readonly Truth[], told: 'numbers' | 'names'): Truth[] {
  const minor = 1_999;
  return truths.map((truth) => {
    const { serial, day } = truth;
    const merchant = told === 'numbers' ? `INVOICE ${20_260_000 + serial}` : (payers[serial % payers.length] ?? '');
    return { ...truth, merchant, minor, label: `${merchant} ${minor} ${day}` };
  });
}
