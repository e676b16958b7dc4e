/** An invented shop: name, ISO 18245 category, the span of a purchase in minor units, and how often it is met. */
export interface Merchant {
  name: string;
  mcc: string;
  from: number;
  to: number;
  weight: number;
}

const list: readonly [name: string, mcc: string, from: number, to: number, weight: number][] = [
  ['HARROW LANE GROCERS', '5411', 380, 6400, 16],
  ['PENNYWHEAT MARKET', '5411', 250, 5200, 14],
  ['THE CORNER CUPBOARD', '5499', 120, 1800, 9],
  ['BRINDLE & OAK COFFEE', '5814', 240, 890, 14],
  ['LITTLE FERN BAKERY', '5462', 180, 1150, 9],
  ['SALT WHARF KITCHEN', '5812', 1450, 7800, 5],
  ['NOODLE YARD', '5812', 890, 3200, 6],
  ['THE QUIET PHEASANT', '5813', 450, 3900, 5],
  ['CROSSLINE TRANSIT', '4111', 175, 1380, 12],
  ['TIDEWAY RAIL', '4112', 640, 8900, 3],
  ['CABBAGE CABS', '4121', 520, 2900, 4],
  ['MILLBROOK FUELS', '5541', 2200, 7600, 4],
  ['LANTERN PHARMACY', '5912', 210, 2600, 4],
  ['FOXTAIL BOOKS', '5942', 599, 3400, 3],
  ['THREADNOUGHT CLOTHING', '5651', 1200, 9900, 3],
  ['MOSSGROVE GARDEN CENTRE', '5261', 450, 5600, 2],
  ['BOLT & BRACKET DIY', '5251', 320, 7400, 2],
  ['PIXELFORGE ELECTRONICS', '5732', 999, 18900, 1],
  ['ORCHARD PARCELS', '4215', 285, 1650, 2],
  ['COPPERLIGHT CINEMA', '7832', 750, 3400, 3],
  ['HEDGEROW VETS', '0742', 2500, 9800, 1],
  ['BLUE KITE SPORTS', '5941', 899, 7200, 2],
  ['DOORSTEP DISPATCH ONLINE', '5969', 499, 6800, 8],
  ['PAWPRINT PETS', '5995', 350, 3600, 2],
  ['RIVERBEND LEISURE POOL', '7997', 480, 1200, 2],
  ['CLOCKHOUSE PARKING', '7523', 150, 1400, 4],
];

export const merchants: readonly Merchant[] = list.map(([name, mcc, from, to, weight]) => ({
  name,
  mcc,
  from,
  to,
  weight,
}));

/** Shops abroad: a purchase there carries a currency exchange. */
export const foreignMerchants: readonly Merchant[] = [
  { name: 'CAFE MIRABEL LYON', mcc: '5814', from: 350, to: 2400, weight: 1 },
  { name: 'HOTEL DREI BIRKEN', mcc: '7011', from: 6900, to: 18900, weight: 1 },
  { name: 'MERCATO DEL PONTE', mcc: '5411', from: 600, to: 4900, weight: 1 },
];

export const totalWeight = merchants.reduce((sum, merchant) => sum + merchant.weight, 0);
