import { missingPsuHeaders } from './psu-headers.js';

describe('the headers a bank wants of the PSU', () => {
  it.each([
    [[], {}, []],
    [['id'], {}, ['id']],
    [['id'], { id: '' }, ['id']],
    [['id', 'ipAddress'], { ipAddress: '203.0.113.7' }, ['id']],
    [['id', 'ipAddress'], { id: 'ada', ipAddress: '203.0.113.7' }, []],
  ] as const)('%j of which %j came: %j are missing', (requiredPsuHeaders, psu, missing) => {
    expect(missingPsuHeaders({ requiredPsuHeaders: [...requiredPsuHeaders] }, psu)).toEqual(missing);
  });
});
