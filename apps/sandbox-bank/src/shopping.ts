import { at, weekday, workdayFrom } from './calendar.js';
import { diceOf, type Happening, type Life } from './happening.js';
import { foreignMerchants, merchants, totalWeight, type Merchant } from './merchants.js';
import type { Random } from './random.js';

export interface Purchase {
  minute: number;
  merchant: Merchant;
  amountMinor: number;
  isRefunded: boolean;
  isForeign: boolean;
  id: string;
}

const weekdayShift = [0, -1, -1, 0, 0, 1, 1];
const refundAfterDays = 5;

/** The purchases of one day. Their number follows the rate exactly over weeks, with quiet Mondays and busy Saturdays. */
export function purchasesOn(life: Life, day: number, rate = life.rate, kind: string = life.plan.kind): Purchase[] {
  const even = Math.floor((day + 1) * rate) - Math.floor(day * rate);
  const count = rate >= 1.5 ? Math.max(0, even + (weekdayShift[weekday(day)] ?? 0)) : even;
  const dice = diceOf(life, day, 'shop', kind);
  return Array.from({ length: count }, () => {
    const isForeign = kind !== 'euro' && dice.chance(1, 90);
    const merchant = isForeign ? dice.pick(foreignMerchants) : pickMerchant(dice);
    const spread = dice.between(0, 1000);
    const amount =
      merchant.from + Math.floor(((merchant.to - merchant.from) * spread * spread * spread) / 1_000_000_000);
    return {
      minute: dice.between(7 * 60, 21 * 60),
      merchant,
      amountMinor: Math.max(55, Math.round(amount * life.scale)),
      isRefunded: dice.chance(1, 60),
      isForeign,
      id: dice.hex(20),
    };
  }).toSorted((one, other) => one.minute - other.minute);
}

function pickMerchant(dice: Random): Merchant {
  let left = dice.between(1, totalWeight);
  const found = merchants.find((merchant) => (left -= merchant.weight) <= 0);
  return found ?? dice.pick(merchants);
}

/** A card payment is pending for one to three days: it is booked early on the second working morning. */
export function toCardRow(life: Life, day: number, purchase: Purchase): Happening {
  const { merchant, amountMinor, isForeign } = purchase;
  const isEuro = life.plan.currency === 'EUR';
  const rate = ((isEuro ? 830 : 1100) + (purchase.minute % (isEuro ? 40 : 90))) / 1000;
  return {
    id: purchase.id,
    madeAt: at(day, purchase.minute),
    bookedAt: at(workdayFrom(day + 2), 135 + (purchase.minute % 40)),
    amountMinor: -amountMinor,
    detail: {
      code: life.plan.kind === 'card' ? 'CCP' : 'DPC',
      iso: ['CCRD', 'POSD'],
      info: `CARD PAYMENT TO ${merchant.name}`,
      merchant: { name: merchant.name, mcc: merchant.mcc },
      card: purchase.minute % 3 === 0 ? 'ConsumerDevice' : purchase.minute % 7 === 0 ? 'PIN' : 'Contactless',
      ...(isForeign && {
        exchange: { currency: isEuro ? 'GBP' : 'EUR', amountMinor: Math.round(amountMinor * rate), rate },
      }),
    },
  };
}

function toRefund(day: number, purchase: Purchase, dice: Random): Happening {
  const { merchant } = purchase;
  return {
    id: dice.hex(20),
    madeAt: at(day, purchase.minute),
    bookedAt: at(workdayFrom(day + 1), 150),
    amountMinor: purchase.amountMinor,
    detail: {
      code: 'RFD',
      iso: ['CCRD', 'RIMB'],
      info: `REFUND FROM ${merchant.name}`,
      merchant: { name: merchant.name, mcc: merchant.mcc },
      card: 'None',
    },
  };
}

/** What was bought on a day, and what was given back of an earlier one. */
export function shopping(life: Life, day: number): Happening[] {
  const dice = diceOf(life, day, 'refund');
  return [
    ...purchasesOn(life, day).map((purchase) => toCardRow(life, day, purchase)),
    ...purchasesOn(life, day - refundAfterDays)
      .filter((each) => each.isRefunded)
      .map((each) => toRefund(day, each, dice)),
  ];
}
