-- CreateTable
CREATE TABLE "account_aliases" (
    "customer_id" UUID NOT NULL,
    "hash" TEXT NOT NULL,
    "account_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "first_seen_at" TIMESTAMPTZ(3) NOT NULL,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_aliases_pkey" PRIMARY KEY ("customer_id","hash","account_id")
);

-- CreateIndex
CREATE INDEX "account_aliases_account_id_idx" ON "account_aliases"("account_id");

-- AddForeignKey
ALTER TABLE "account_aliases" ADD CONSTRAINT "account_aliases_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
