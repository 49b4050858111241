-- [own schema] What kernels do, told by their parsed names: whole words of the function's own name, never its parameter types, nor a
-- part of a word ("nll" in ONLL1, "relu" in an epilogue's name of a convolution, "reduce" in the name of an all-reduce).
--
-- 20 kernels of 100 on one stream, one after the other: busy 2000. Every figure of 100 is 5 %.
--   gemm           5: Tensile's, the experts' and Inductor's products, TensorRT-LLM's batched one, Myelin's fully connected layer
--   communication  4: the all-reduces of vLLM, TensorRT-LLM and Transformer Engine, DeepEP's combine
--   conv           3: cuDNN for Volta with ReLU, a transform of Winograd, a transform of FFT (whose parameter is a "reduced_divisor")
--   elementwise    2: Inductor's pointwise kernel with a convolution's bias in it; flashinfer's activation
--   unknown        2: render and Fan2 say nothing; a class of their own
--   attention      1: flash attention in CUTLASS's carrier; norm 1: flashinfer's; layout 1: vLLM's cache write; other 1: a sort
-- Compute: 5 + 3 + 2 + 1 + 1 + 1 + 1 = 14 kernels = 70 %; communication 4 = 20 %; unknown 2 = 10 %.
INSERT INTO run (rank) VALUES (0);
INSERT INTO kernel (start, end, name) VALUES
    (   0,  100, 'Cijk_Alik_Bljk_HHS_BH_MT128x64x32_MI32x32x8x1_SN_ONLL1_PBD0'),
    ( 100,  200, 'fused_moe_kernel'),
    ( 200,  300, 'triton_tem_fused_addmm_relu_7'),
    ( 300,  400, 'bmm_E4m3_E4m3E4m3_Fp32_t128x64x128u2_s6_et64x64_sm100f'),
    ( 400,  500, '__myl_FcMulAdd_0x1d2c_myl0_5'),
    ( 500,  600, 'void vllm::cross_device_reduce_2stage<__half, 4>(vllm::RankData*, vllm::RankSignals)'),
    ( 600,  700, 'void tensorrt_llm::kernels::oneShotAllReduceKernel<float, 2>(tensorrt_llm::kernels::AllReduceParams)'),
    ( 700,  800, 'void deep_ep::internode_ll::combine<true, 7168>(void*, void*)'),
    ( 800,  900, 'userbuffers_fp16_sum_inplace_gpu_rr<8>(int)'),
    ( 900, 1000, 'volta_scudnn_128x64_relu_small_nn_v1'),
    (1000, 1100, 'void winogradForwardData9x9_5x5<float>(float, cudnn::winograd_nonfused::Params)'),
    (1100, 1200, 'void fft2d_r2c_32x32<float, false, 1u, false>(float2*, float const*, int, cudnn::reduced_divisor, bool)'),
    (1200, 1300, 'triton_poi_fused_convolution_relu_3'),
    (1300, 1400, 'void flashinfer::activation::act_and_mul_kernel<__half, silu>(__half*)'),
    (1400, 1500, 'render(flash::Params*, cudnnSoftmaxStruct)'),
    (1500, 1600, 'Fan2(float*, float*, float*, int, int, int)'),
    (1600, 1700, 'void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<int> > >(Params)'),
    (1700, 1800, 'void flashinfer::norm::RMSNormKernel<8u, __half>(__half*)'),
    (1800, 1900, 'void vllm::reshape_and_cache_flash_kernel<__half, __half>(__half*)'),
    (1900, 2000, 'void cub::DeviceRadixSortOnesweepKernel<int>(int)');
