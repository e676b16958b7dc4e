import { useRef, useState } from 'preact/hooks';

const gatherMs = 200;

/** A number that grows when something has changed; changes in quick succession count as one. */
export function useVersion(): [version: number, change: () => void] {
  const [version, setVersion] = useState(0);
  const isWaiting = useRef(false);
  const change = () => {
    if (isWaiting.current) return;
    isWaiting.current = true;
    setTimeout(() => {
      isWaiting.current = false;
      setVersion((before) => before + 1);
    }, gatherMs);
  };
  return [version, change];
}
