#include "analyzer/trace/torch_operation.h"

#include <algorithm>
#include <array>

#include "analyzer/trace/kernel_words.h"

namespace swinscope {
namespace {

using enum OperationKind;

// Of the name behind the last "::"; the first that matches decides. Overlapped products and all-reduces are two kinds
// at once, so that their kernels have to say it.
struct OpRule {
  std::string_view pattern;
  OperationKind kind;
};
constexpr std::array kRules = {
    OpRule{"matmul&allgather|matmul&reducescatter|mm&allgather|mm&reducescatter|mm&allreduce|matmul&allreduce",
           kUnknown},
    OpRule{"allreduce*|allgather*|reducescatter*|alltoall*|=broadcast|sendrecv|recordparamcomms", kCommunication},
    OpRule{"rotary*|rope|mrope", kElementwise},
    OpRule{"reshapeandcache*|concatandcache*", kLayout},
    OpRule{"quant|quantize*|dequantize*", kUnknown},
    OpRule{"scaleddotproduct*|attention|attn|sdpa|flashattn*|fmha*|mla|mha|multiheadattention*", kAttention},
    OpRule{"convolution*|conv|conv2d|depthwiseconvolution|causalconv*", kConv},
    OpRule{"=mm|=addmm|=bmm|=baddbmm|=addbmm|=addmv|=mv|=dot|=vdot|=matmul|=matmulbackward|=linear|=linearbackward|="
           "einsum|"
           "=tensordot|=bilinear|mm|addmm|bmm|gemm",
           kGemm},
    OpRule{"layernorm*|batchnorm*|groupnorm*|rmsnorm*|instancenorm*|weightnorm*", kNorm},
    OpRule{"softmax*|logsoftmax*|loss|nllloss*|crossentropy*|kldiv*", kSoftmaxLoss},
    OpRule{"embedding|embeddingbag|embeddings|splitembedding*", kEmbedding},
    OpRule{"upsample*|pool|gridsampler*|roialign*|roipool*", kResample},
    OpRule{"=fusedadam*|=fusedsgd*|=fusedadagrad*", kOptimizer},
    OpRule{
        "=copy|=tocopy|=clone|=contiguous|=cat|=concat|=stack|=index|=indexselect|=indexselectbackward|=gather|"
        "=gatherbackward|=scatter*|=indexput|=indexputimpl|=indexadd|=indexcopy|=roll|=flip|=repeat|=repeatinterleave|"
        "=constantpadnd|=pad|=im2col|=col2im|=unfold*|=tril|=triu|=slicebackward|=selectbackward|=take|"
        "=reflectionpad*|=replicationpad*|=pixelshuffle|=pixelunshuffle",
        kLayout},
    OpRule{
        "=sum|=mean|=amax|=amin|=argmax|=argmin|=prod|=var|=std|=varmean|=stdmean|=logsumexp|=linalgvectornorm|=norm|"
        "=any|=all|=median|=countnonzero",
        kReduce},
    OpRule{"=sort|=argsort|=topk|=multinomial|=unique|=unique2|=uniquedim|=nonzero|=cumsum|=cumprod|=searchsorted|="
           "bincount|"
           "=histc|=maskedselect|=randperm|=kthvalue|=bucketize",
           kOther},
    OpRule{
        "=add|=sub|=rsub|=mul|=div|=neg|=abs|=exp|=exp2|=log|=log2|=log1p|=sqrt|=rsqrt|=reciprocal|=pow|=sin|=cos|="
        "tanh|"
        "=tanhbackward|=sigmoid|=sigmoidbackward|=relu|=gelu|=gelubackward|=silu|=silubackward|=leakyrelu|"
        "=leakyrelubackward|=hardswish|=hardtanh|=elu|=erf|=thresholdbackward|=dropout|=nativedropout|"
        "=nativedropoutbackward|=maskedscale|=where|=clamp|=clampmin|=clampmax|=maskedfill|=addcmul|=addcdiv|=lerp|"
        "=fill|=zero|=arange|=normal|=uniform|=bernoulli|=exponential|=random|=eq|=ne|=lt|=le|=gt|=ge|"
        "=logicalnot|=logicaland|=logicalor|=bitwiseand|=bitwiseor|=bitwisenot|=isnan|=isinf|=maximum|=minimum|=floor|"
        "=ceil|=round|=sign|=remainder|=fmod|=softplus|=mishbackward|=mish|=glu|=glubackward|=siluandmul|=geluandmul|"
        "=ampforeachnonfinitecheckandunscale|=foreachadd|=foreachmul|=foreachdiv|=foreachaddcdiv|=foreachaddcmul|"
        "=foreachlerp|=foreachsqrt|=foreachneg|=foreachreciprocal",
        kElementwise},
};

}  // namespace

OperationKind torch_operation(std::string_view name) {
  name = name.substr(0, name.find(','));
  const std::size_t scope = name.rfind("::");
  // "autograd::engine::evaluate_function: SumBackward0" is around operations, and is none.
  if (scope == std::string_view::npos || name.starts_with("autograd::") || name.find(' ') != std::string_view::npos) {
    return kUnknown;
  }
  if (name.starts_with("c10d")) return kCommunication;
  Words words;
  words.add(name.substr(scope + 2));
  const auto* const found =
      std::find_if(kRules.begin(), kRules.end(), [&](const OpRule& rule) { return words.match(rule.pattern); });
  return found == kRules.end() ? kUnknown : found->kind;
}

}  // namespace swinscope
