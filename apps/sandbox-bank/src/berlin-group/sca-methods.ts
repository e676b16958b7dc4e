import type { Persona } from '../personas.js';
import { photoChallenge } from './photo-challenge.js';

/** An entry of `scaMethods` (section 14.17). */
export interface ScaMethod {
  authenticationType: 'SMS_OTP' | 'CHIP_OTP' | 'PHOTO_OTP';
  authenticationMethodId: string;
  authenticationVersion?: string;
  name: string;
  explanation: string;
}

const sms: ScaMethod = {
  authenticationType: 'SMS_OTP',
  authenticationMethodId: 'sms-42',
  name: 'SMS to •••• 42',
  explanation: 'A code comes to your mobile phone',
};
const chip: ScaMethod = {
  authenticationType: 'CHIP_OTP',
  authenticationMethodId: 'chip-1',
  authenticationVersion: '1.4',
  name: 'Card reader',
  explanation: 'Your card reader makes a code from a start code',
};
const photo: ScaMethod = {
  authenticationType: 'PHOTO_OTP',
  authenticationMethodId: 'photo-1',
  name: 'Picture code',
  explanation: 'Your reader reads a picture and shows a code',
};

const methods: Record<string, readonly ScaMethod[]> = { ada: [sms, chip, photo], ben: [], chloe: [sms] };

/** The methods a person has set up: none, one or several. */
export function methodsOf(persona: Persona): readonly ScaMethod[] {
  return methods[persona.id] ?? [sms];
}

/** `challengeData` (section 14.20): what the PSU needs to see to come by the code. The code itself is the persona's, always. */
export function challengeOf(method: ScaMethod, authorisationId: string): object {
  const code = { otpMaxLength: 6, otpFormat: 'integer' };
  switch (method.authenticationType) {
    case 'SMS_OTP':
      return { ...code, additionalInformation: 'We have sent a code to your phone ending in 42.' };
    case 'CHIP_OTP': {
      const start = String(Number.parseInt(authorisationId.slice(0, 8), 16) % 100_000_000).padStart(8, '0');
      return { ...code, data: [start], additionalInformation: 'Insert your card, press TAN, enter the start code.' };
    }
    default:
      return {
        ...code,
        image: photoChallenge(authorisationId),
        additionalInformation: 'Scan the picture with your reader.',
      };
  }
}
