// Command lines as traces keep them.
#include "collector/base/recorded_command.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace swinscope {
namespace {

TEST(RecordedCommand, HidesWhatStandsBehindAWordForASecret) {
  EXPECT_EQ(recorded_command({"train", "--password=hunter2", "--api-key", "abc", "--lr", "0.1"}),
            "train '--password=***' --api-key '***' --lr 0.1");
  EXPECT_EQ(recorded_command({"env", "HF_TOKEN=abc", "OMP_NUM_THREADS=4", "train"}),
            "env 'HF_TOKEN=***' OMP_NUM_THREADS=4 train");
  EXPECT_EQ(recorded_command({"get", "https://me:hunter2@host:80/a@b", "s3://bucket/a:b"}),
            "get 'https://me:***@host:80/a@b' s3://bucket/a:b");
}

TEST(RecordedCommand, LeavesTheRestAsItWas) {
  EXPECT_EQ(recorded_command({"train", "--max-tokens", "512", "--tokenizer=bpe", "--password", "--lr=1", "token"}),
            "train --max-tokens 512 --tokenizer=bpe --password --lr=1 token");
  EXPECT_EQ(recorded_command({"sh", "-c", "echo a secret = 1"}), "sh -c 'echo a secret = 1'");
  EXPECT_EQ(recorded_command({}), "");
}

}  // namespace
}  // namespace swinscope
