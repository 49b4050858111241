#include "analyzer/trace/kernel_rules.h"

#include <array>

namespace swinscope {
namespace {

using enum OperationKind;

// Kernels that only carry what their template arguments name.
constexpr std::string_view kCarriers =
    "=kernel|=kernel2|=devicekernel|=kentry|=kernelentry|=kernelentrypoint|=trampolinekernel|=kernelagent|="
    "globalkernel|"
    "=launchkernel|=runglobal|=generickernel|=transformkernel|=statickernel";
constexpr std::string_view kElementwiseCarriers = "elementwise|eigenmetakernel";

constexpr std::array kRules = {
    // Collectives: NCCL and RCCL of all versions, MSCCL, NVSHMEM, and the all-reduces of the serving stacks.
    KernelRule{"^nccl*|ncclkernel*|nccldevkernel*|ncclsym*|^rccl*|^msccl*|nvshmem*", "", "", kCommunication},
    KernelRule{"multimem*|crossdevicereduce*|lamport*|userbuffers*|kuserbuffers*|quickreduce*|quickallreduce*", "", "",
               kCommunication},
    KernelRule{"allreduce&oneshot|allreduce&twoshot|allreduce&1&stage|allreduce&2&stage|allreduce&fusion|"
               "allreduce&fused|allreduce&norm|allreduce&rmsnorm|allreduce&layernorm|allreduce&residual|"
               "allreduce&custom|allreduce&multimem|allreduce&nvls|allreduce&ring|allreduce&prototype|allreduce&p2p|"
               "allreduce&push|allreduce&pull",
               "", "", kCommunication},
    KernelRule{"oneshotallreduce*|twoshotallreduce*|customar|=allreduce|=allreducekernel|moeallreduce*", "", "",
               kCommunication},
    KernelRule{"allgather*|alltoall*|all2all|a2adispatch|a2acombine|moea2a*|reducescatter*|sendrecv*|epdispatch*|"
               "epcombine*|=barrierkernel|=putsignalkernel|=waitsignalkernel",
               "", "", kCommunication},
    KernelRule{"",
               "nccl|rccl|mscclpp|msccl|nvshmem*|deepep|quickreduce*|symmetricmemory|userbuffers|mori|pplx|uccl|"
               "intranode|internode*|hybridep",
               "", kCommunication},
    KernelRule{"",
               "trtllmallreduce*|trtllmmnnvlallreduce*|trtllmalltoall*|trtllmmoeallreduce*|trtllmmoealltoall*|"
               "arfusion|mnnvl|moealltoall|moecomm|customallreduce",
               "", kCommunication},

    // Our own workloads' kernels, where their names are short because their place says the rest.
    KernelRule{"=linearkernel|=mlpkernel|normalizedqkv|normalizedpatchembed|normalizedrows|blockend", "^swinscope", "",
               kGemm},
    KernelRule{"=generalkernel|=generalbackwardkernel|cosinebackward|=cosinekernel|cosinesums|logitscale|=scalekernel|"
               "=maskkernel|=normalizebackwardkernel",
               "^swinscope", "", kAttention},
    KernelRule{"moments|=normalizekernel|=statisticskernel|=runningkernel|^plain|foldnormalization", "^swinscope", "",
               kNorm},
    KernelRule{"=columnkernel|sumparts|=tablekernel|firstlayer|secondlayer|roundsums", "^swinscope", "", kReduce},
    KernelRule{
        "=columnskernel|=splitkernel|=mergekernel|=paddingkernel|=packkernel|=unpackkernel|expandbias|expandgeneral|"
        "continuousbias",
        "^swinscope", "", kLayout},
    KernelRule{"=addkernel|addinto|=biaskernel|scaledbranch|=depthkernel|=randomkernel|randombytes", "^swinscope", "",
               kElementwise},

    // AMD's runtime sets and copies with kernels.
    KernelRule{"^amdrocclrfill*", "", "", kSet},
    KernelRule{"^amdrocclrcopy*|^amdrocclrbatchmemcopy*", "", "", kCopy},

    // One kernel for many tensors: an optimizer's step, the norm of all gradients, or any arithmetic.
    KernelRule{"multitensor*", "", "adam*|adamw|sgd*|lamb*|adagrad*|adadelta|rmsprop|radam|nadam|lion|novograd|lars*",
               kOptimizer},
    KernelRule{"multitensor*&adam*|multitensor*&sgd|multitensor*&lamb*|multitensor*&novograd", "", "", kOptimizer},
    KernelRule{"multitensor*", "", "norm|lpnorm|l2norm|maxnorm", kNorm},
    KernelRule{"multitensor*", "", "copy|copyfunctor", kLayout},
    KernelRule{"multitensor*&l2norm*|lpnorm*", "", "", kNorm},
    KernelRule{"multitensor*", "", "", kElementwise},

    // Inductor says in the prefix how a kernel works, and behind it which operations were fused (also into its inputs).
    KernelRule{"^tritontem&flexattention|^tritontem&attention|^tritontem&flexdecoding", "", "", kAttention},
    KernelRule{"^tritonmm*|^tritonbmm*|^tritontem&mm|^tritontem&addmm|^tritontem&bmm|^tritontem&baddbmm", "", "",
               kGemm},
    KernelRule{"^tritonconv*|^tritontem&convolution", "", "", kConv},
    KernelRule{"^tritontem", "", "", kGemm},
    KernelRule{"^tritonpoi|^tritonfor", "", "", kElementwise},
    KernelRule{"^tritonred&nativelayernorm|^tritonper&nativelayernorm|^tritonred&norm|^tritonper&norm|"
               "^tritonred&layernorm|^tritonper&layernorm|^tritonred&rmsnorm|^tritonper&rmsnorm|^tritonred&batchnorm|"
               "^tritonper&batchnorm|^tritonred&groupnorm|^tritonper&groupnorm|^tritonred&mean&rsqrt|"
               "^tritonper&mean&rsqrt|^tritonred&varmean|^tritonper&varmean",
               "", "", kNorm},
    KernelRule{"^tritonred&softmax|^tritonper&softmax|^tritonred&logsoftmax|^tritonper&logsoftmax|^tritonred&nllloss*|"
               "^tritonper&nllloss*|^tritonper&loss|^tritonred&loss",
               "", "", kSoftmaxLoss},
    KernelRule{"^tritonred|^tritonper", "", "", kReduce},
    KernelRule{"^tritonspl", "", "", kOther},
    KernelRule{"^tritongemm*", "", "", kGemm},
    KernelRule{"^tritonsoftmax*", "", "", kSoftmaxLoss},

    // TensorRT's Myelin and XLA name a fusion by what is in it.
    KernelRule{"^myl&fc|^myl&gemm|^myl&matmul|^mye&fc|^myl&fc*", "", "", kGemm},
    KernelRule{"^myl&conv*", "", "", kConv},
    KernelRule{"^myl&mha|^myl&attention|^myl&fmha", "", "", kAttention},
    KernelRule{"^myl&mean&sqrt|^myl&mea&sqr|^myl&mean&rsqrt", "", "", kNorm},
    KernelRule{"^myl&softmax|^myl&max&sub&exp|^myl&exp&sum&div", "", "", kSoftmaxLoss},
    KernelRule{"^myl", "", "", kElementwise},
    KernelRule{"^inputreduce&fusion|reduce&fusion", "", "", kReduce},
    KernelRule{"transpose&fusion|copy&fusion|concatenate&fusion|gather&fusion|scatter&fusion|^wrappedtranspose|"
               "^wrappedconcatenate|dynamicupdateslice&fusion|^wrappedslice",
               "", "", kLayout},
    KernelRule{"^loop&fusion", "", "", kElementwise},

    // Helpers of matrix products and convolutions.
    KernelRule{"splitkreduce*|splitkreduction|reducesplitk|reduce1block*|postgsu|finalizematmul*|splitk&reduce", "", "",
               kReduce},
    KernelRule{"betaonly|scalepackedtensor*|op1dtensor*|op2dtensor*|op3dtensor*|op4dtensor*|op5dtensor*|subtensorop*|"
               "optensor*|addtensor*",
               "", "", kElementwise},
    KernelRule{"nchwtonhwc|nhwctonchw|nchw2nhwc|nhwc2nchw|cnhw2nchw|nchw2cnhw|tonchw|tonhwc|im2col*|vol2col*|col2vol*|"
               "im2d2col*|col2im*|"
               "col2im2d|im3d2col|flipfilter|transposepacked*|repack",
               "", "", kLayout},

    // Serving: key-value caches, routing of tokens to experts, positions.
    KernelRule{
        "reshapeandcache*|concatandcache*|storekvcache*|storecache|appendpagedkv*|setkv*|setmlakv*|writekv*|copyblocks|"
        "swapblocks|copypage*|kvcache&copy|kvcache&write|kvcache&store|kvcache&set|kvindices|pageindices|reqtotoken*|"
        "gather&cache|gatherkv*|cpgatheranduploadcache|quantkvcache",
        "", "", kLayout},
    KernelRule{"finalizemoe*|moefinalize*|moesum*|moereduce*|finalizekernel*", "", "", kReduce},
    KernelRule{"moealign*|moesort*|moefusedgate*|groupedtopk*|grouptopk*|routing|routingindices*|countandsort*|"
               "combinedrouting*|bitmatrix|sumbitmatrix*|buildexpertmaps*|fusedbuildexpertmaps*|expertfirsttokenoffset*"
               "|problemsizes|"
               "computestrides*|preparemoe*|moebuild*|computearguments*|moecompute*",
               "", "", kOther},
    KernelRule{"expandinputrows*|moepermute*|moeunpermute*|moescatter|epscatter*|epgather*|shufflerows|store&cache|"
               "permutekernel",
               "", "", kLayout},
    KernelRule{"fwdgroupedkernel*|chunkfwdkernel*|solvetril|recomputewu*", "", "", kAttention},
    KernelRule{"qknorm&rope|rmsnorm&rope|layernorm&rope", "", "", kNorm},
    KernelRule{"knentry*|gdngating|rotary*|rope|mrope|ropeneox|ropequantize*|posenc", "", "", kElementwise},

    // Embedding tables.
    KernelRule{"embedding|embeddings|embeddingbag*|splitembedding*|embbag|embeddinglookup|computegradweight*|"
               "sumandscatter|krnpartials*|krnpartial*|lxucache*|boundscheckindices|embeddinginplace",
               "", "", kEmbedding},

    // Normalization.
    KernelRule{"layernorm*|rmsnorm*|batchnorm*|groupnorm*|instancenorm*|layernormalization|batchnormalization|norm|"
               "addrmsnorm|l2norm|weightnorm|bnfw*|bnbw*|lnfwd*|lnbwd*|gammabeta*|rowwisemoments*|welford*|"
               "computefusedparams*|computebackwardfusedparams*|computeinternalgradients*|miopenbatchnorm*|"
               "batchnormalize|rmslayernorm|rmslayernorm*|qknorm|lrn|lrn*|fusedrms*",
               "", "", kNorm},

    // Attention by its own names.
    KernelRule{"attention|attentions|fmha*|sdpa|flashattn*|flashattention*|flashfwd*|flashbwd*|flashmla|flashdecod*|"
               "flash&fwd|flash&bwd|flash&fprop|flash&bprop|sageattn*|sagefwd|attnfwd*|attnbwd*|multihead|mmha|"
               "kernelmha|gemmmha*|xqa|prefillwith*|decodewith*|mergestate*|mergestates|mergeattnstates*|"
               "variablelengthmergestates",
               "", "", kAttention},
    KernelRule{"bwdkerneldkdv|bwdkerneldq|bwddkdv|bwddq|dkdvdq|fwdkernelstage1|fwdkernelstage2|"
               "deltarule*|scaleddotkkt|fusedrecurrent*|chunkgla*|chunkfwdo|retention|wkv*|rwkv*|lightningattn*|mlafwd|"
               "attn&mfma|pagedattn*|qkint8*",
               "", "", kAttention},

    // Softmax and losses.
    KernelRule{"softmax*|logsoftmax*|softmaxwarp*|crossentropy*|nll|nllloss*|loss|xentropy|bceloss|ctcloss|mseloss|"
               "smoothl1*|kldiv*|topkgatingsoftmax*",
               "", "", kSoftmaxLoss},

    // Pooling and resampling; before the matrix products, since "xmma_pooling" is one.
    KernelRule{"pool|pooling|pooling*|maxpool*|avgpool*|averagepool*|upsample*|resize*|interpolate*|bilinear*|bicubic|"
               "gridsample*|roialign*|roipool*|mlopooling*",
               "", "", kResample},

    // Convolutions: cuDNN's own, CUTLASS's and xmma's implicit GEMM, MIOpen's, and the transforms of Winograd and FFT.
    KernelRule{"conv|convolution|convolve*|convolutional|winograd*|implicitgemm*|wgrad*|dgrad*|fprop|bprop|depthwise*|"
               "dwconv*|scudnn|hcudnn|icudnn|dcudnn|1688cudnn|884cudnn|16816cudnn|8816cudnn|causalconv*|naiveconv*",
               "", "", kConv},
    KernelRule{
        "igemm&fwd|igemm&bwd|igemm&wrw|gemm&bwdweight|gemm&bwddata|miopencv*|miopenconv*|sp3asmconv*|"
        "gridwiseconvolution*|computeoffsets*|computeboffsets*|computewgrad*|fft1dr2c|fft1dc2r|fft2dr2c|fft2dc2r|"
        "fft3dr2c|fft3dc2r|pointwisemultandsumcomplex",
        "", "", kConv},

    // Matrix products.
    KernelRule{"cijk|*gemm|gemm*|gemv*|*gemv|nvjet*|matmul*|*matmul|bmm|mm|addmm|scaledmm|groupmm|mulmat*|mmvq|mmq|"
               "matrixmul*|gemmk1|gemvx|=dotkernel|rocblasdot*|llmm1",
               "", "", kGemm},
    KernelRule{
        "marlin*|machete*|wvsplitk*|wvsplit|splitkq|fusedmoekernel*|fusedmoe|fmoe*|moeflatmm|kernelmoe*|"
        "xmma|^cutlass*|mulmatvec*|rnnblockpersist*|persistrnn*|hmma|mfma*|wgmma|fp8blockfp8matmul|syrk|trsm*|trmm*|"
        "batchedgemm*|gemvn*|gemvt*",
        "", "", kGemm},

    // What is done to each value, where the name says so.
    KernelRule{"quant|quantize*|dequant|dequantize*|requantize*|quantization|qparam*|fp8quant*|scaledquant|"
               "cvtfp16tofp4|cvtbf16tofp4|quantized",
               "", "", kElementwise},

    // Attention by names that others have, too.
    KernelRule{"mla|mha|attn|gdn|flash|fav2|fav3|mqalogits|mqa", "", "", kAttention},

    // Optimizers.
    KernelRule{"adam|adamw|adam*|fusedadam*|sgd|lamb|lambstage*|adagrad|adafactor|rmsprop|novograd|optimizer|"
               "applygradientdescent|applymomentum|applyadam|sparseapply*|muon",
               "", "", kOptimizer},

    // Known, but none of the operations that have a name: sorting and selecting, sampling, scans, FFT, sparse products.
    KernelRule{"radixsort*|*sort|sort|bitonic*|mergesort*|sortpairs|topk*|sampling*|sampler|sample|multinomial|gumbel*|"
               "speculative*|scan|prefixsum|cumsum|histogram*|searchsorted|deviceselect*|devicecompact*|uniquebykey|"
               "deviceunique*|nonzero|randperm*|bincount|rejection*|topp|minp",
               "", "", kOther},
    KernelRule{
        "selectivescan*|selectivestateupdate*|chunkscan*|chunkstate*|statepassing*|chunkcumsum*|bmmchunk*|mamba*|"
        "fft|regularfft*|trsv*|getrf*|potrf*|geqrf*|vectorfft*|bluestein*|postprocessfft|csrmv*|csrmm*|spmv*|spmm*|"
        "sddmm*|spinkernel|hadamard*|"
        "generateseed*|bucketize*|blockbucketize*|offsetsrange*|lookbackscan*|lookback",
        "", "", kOther},

    // Reductions.
    KernelRule{"reduce|reduction|reducekernel|argmax|argmin|columnreduce|rowreduce|segmentreduce|nrm2|asum|iamax|amax|"
               "biasgrad*|absmax|reducesegments|redsum|shufflemulsum",
               "", "", kReduce},

    // Moving data.
    KernelRule{"copy|copyasync|memcpy|catarray*|concat*|transpose*|permute*|permutation|gather*|scatter*|indexselect*|"
               "indexput*|indexing|indexingbackward*|indexfunc*|indexcopy|indexadd|indexelementwise*|linearizeindex*|"
               "roll|rollcuda|reshape*|pixelshuffle*|repeatinterleave*|reflectionpad*|replicationpad*|constantpad*|"
               "triltriu*|triutril*|cpy|getrows|swapdimension*|shuffleintensor*|unfold|todense*|jagged|recat|"
               "packsegments|windowpartition|windowreverse",
               "", "", kLayout},

    // Arithmetic on each value. What a generic kernel applies stands in its template arguments.
    KernelRule{kElementwiseCarriers, "", "copy|flip|copykernel", kLayout},
    KernelRule{kElementwiseCarriers, "", "groupnorm|batchnorm|layernorm|groupnormkernelimpl*", kNorm},
    KernelRule{kElementwiseCarriers, "",
               "msekernel*|msebackward*|smoothl1*|huber*|binarycrossentropy*|kldiv*|softmarginloss*", kSoftmaxLoss},
    KernelRule{kElementwiseCarriers, "", "upsample*", kResample},
    KernelRule{"eigenmetakernel", "", "reduction*", kReduce},
    KernelRule{"eigenmetakernel", "", "shuffling*|padding*|concatenation*|slicing*", kLayout},
    KernelRule{
        "elementwise|pointwise|unary|unaryop|unaryops|binaryop|actandmul*|activation|gelu*|relu|relu*|leakyrelu|silu*|"
        "swiglu*|"
        "geglu*|sigmoid*|tanh|swish*|softplus|dropout*|fuseddropout*|addbias*|biasadd|biasact|biasgelu*|biasrelu|"
        "biasdropout*|biasnhwc|biasnchw|threshold*|fill|fill*|maskedfill|where|arange|casttranspose|cast|castkernel|"
        "convert|convertunary|axpy|scal|eigenmetakernel|bin&bcast|gatedact|dgatedact|repetitionpenalt*|"
        "elementmul|loopfusion|^wrapped|lstmcell*|grucell*|elemwisernn*|biasresidual|ampupdatescale*|"
        "neuronfwd|neuronbwd|miopenneuron*|distribution|curand*|gensequenced|addcmul|"
        "residualadd|addresidual|tofloat|tofp8|zerokernel|swigluoai|halftofloat|float2half|memset|memset*",
        "", "", kElementwise},

    // Kernels that carry another: what is in their template arguments, as the rules above would say it.
    KernelRule{kCarriers, "", "flash|flashattn*|fmha*|fmha|attention|attentionkernel|sm100mla|mla", kAttention},
    KernelRule{kCarriers, "", "rmsnorm*|layernorm*|layernorm2d|rmsnorm2d|batchnorm*", kNorm},
    KernelRule{kCarriers, "", "moesorting*|topk*|radixsort*|sort*|scan*|wrappedscanconfig|select*", kOther},
    KernelRule{kCarriers, "", "reducesplitk|splitkreduce|batchreductionkernel", kReduce},
    KernelRule{kCarriers, "", "conv|fprop|*fprop|wgrad|*wgrad|dgrad|*dgrad|implicitgemm*|convolution", kConv},
    KernelRule{kCarriers, "", "gemm|*gemm|gemm*|gemv*|matmul|groupgemm|batchedgemm|moegemm", kGemm},
    KernelRule{kCarriers, "", "softmax*", kSoftmaxLoss},
    KernelRule{kCarriers, "", "reduce|reducekernel|reduction|wrappedreduceconfig|reduceagent", kReduce},
    KernelRule{kCarriers, "", "copy|transpose*|permute*|concat*|gather|scatter", kLayout},
    KernelRule{kCarriers, "", "parallelfor*|foreach|transform|elementwise*|generate|fill|uninitializedfill",
               kElementwise},

    // Last, the library or the part of it that the kernel is in.
    KernelRule{"", "flash|flashattn*|pytorchflash|fmha|fmhav2|mmha|xqa|flashmla|pytorchmemeffattention|sageattention",
               "", kAttention},
    KernelRule{"", "layernorm|normalization|norm|rmsnorm|groupnorm", "", kNorm},
    KernelRule{"", "winograd*|caskcudnn*|cudnncnn|winogradnonfused", "", kConv},
    KernelRule{"", "deepgemm|marlin*|machete|gemvx|gemm|cutlassgemm|gemv", "", kGemm},
    KernelRule{"", "sampling|routing|selectivescan|mbtopk|sbtopk|spradix*|dpradix*|spvector*|dpvector*", "", kOther},
    KernelRule{kCarriers, "foreach|transform", "", kElementwise},
    KernelRule{kCarriers, "fusedmoe", "", kGemm},
    KernelRule{"^pa", "aiter", "", kAttention},
    KernelRule{"", "activation|epilogue|rope|quantization|quant", "", kElementwise},
    KernelRule{"", "embedding|embeddings|tbe", "", kEmbedding},
    KernelRule{"", "finalize", "", kReduce},
};

}  // namespace

std::span<const KernelRule> kernel_rules() { return kRules; }

}  // namespace swinscope
