import { useState } from 'preact/hooks';
import type { Institution } from './views.js';

/** The picture of a bank, or its first letter where there is none; its name always stands beside it. */
export function BankLogo({ institution }: { institution: Pick<Institution, 'name' | 'logo'> }) {
  const { name, logo } = institution;
  const [isBroken, setBroken] = useState(false);
  if (logo === undefined || isBroken)
    return (
      <span class="logo" aria-hidden="true">
        {name.charAt(0)}
      </span>
    );
  return <img class="logo" src={logo} alt="" width="40" height="40" loading="lazy" onError={() => setBroken(true)} />;
}
